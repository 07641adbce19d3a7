"""What differs: between two receipts, two servers, two dossiers or two scorings. They read public forms only."""
