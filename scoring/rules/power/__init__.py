"""What tools may do, and how their rights can be limited, separated and disabled."""
