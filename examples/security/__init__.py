"""An assistant that reads what others wrote, under attack, and three defences."""
