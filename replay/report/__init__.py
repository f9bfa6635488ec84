"""What people look at: text for terminals. Aggregation is elsewhere; here is only drawing."""
