"""What tools may do, and how far that can be limited, told apart and switched off."""
