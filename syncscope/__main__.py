"""``python -m syncscope`` is the command ``syncscope``."""

from syncscope.cli.main import main

raise SystemExit(main())
