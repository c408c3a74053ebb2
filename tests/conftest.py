import pytest


def pytest_addoption(parser):
    parser.addoption(
        "--gpu", action="store_true", help="also run the conformance calls on a real GPU, profiled"
    )


def pytest_collection_modifyitems(config, items):
    if not config.getoption("--gpu"):
        skip = pytest.mark.skip(reason="runs on a GPU: pytest --gpu")
        for item in items:
            if "gpu" in item.keywords:
                item.add_marker(skip)


def pytest_configure(config):
    config.addinivalue_line("markers", "gpu: needs a real GPU (pytest --gpu)")


pytest_plugins = ["pytester"]
