"""Projects on this machine that their authors scan before they publish: where one begins, and how it is started."""
