"""What a release needs: wheels, a smoke test of them, and checks of the version."""
