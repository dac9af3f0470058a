"""`python -m nqe` is the command line."""

from nqe.cli import main

main()
