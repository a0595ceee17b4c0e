"""What an SM holds, issues and waits for."""
