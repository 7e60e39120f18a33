"""Run the command line: python -m traceview."""

if __name__ == "__main__":
    try:
        from traceview.cli import main

        main()
    except KeyboardInterrupt:
        raise SystemExit(130) from None
