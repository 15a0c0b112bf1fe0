"""`yardline ...` and `python -m yardline ...`."""

from yardline.cli import main

if __name__ == "__main__":
    main()
