"""How a voice agent takes turns, from the ticks of recorded conversations."""
