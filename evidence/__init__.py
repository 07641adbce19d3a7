"""Evidence about servers: what was observed, and the reasons for what could not be observed; append-only."""
