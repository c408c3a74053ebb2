"""The line that a wait is charged to is the user's own."""

import copy
import dataclasses
import logging
from importlib.util import module_from_spec, spec_from_file_location

import torch

import syncscope
from syncscope import sites


@dataclasses.dataclass
class Pair:
    value: torch.Tensor


def only_site(scope):
    (site,) = {event.site for event in scope.events if event.waits or event.dtod}
    return site


def test_a_deep_copy_is_the_users_line_not_the_copy_modules():
    x = torch.ones(3)
    with syncscope.observe() as scope:
        model = {"weights": x.to("cuda")}
        scope.reset()
        copy.deepcopy(model)  # here
    assert only_site(scope).text == "copy.deepcopy(model)  # here"


def test_the_equality_of_a_dataclass_is_the_line_that_compares():
    with syncscope.observe() as scope:
        left, right = Pair(torch.zeros((), device="cuda")), Pair(torch.zeros((), device="cuda"))
        scope.reset()
        left == right  # noqa: B015 (here)
    assert only_site(scope).text == "left == right  # noqa: B015 (here)"


def test_a_log_line_is_the_one_that_logs(caplog):
    with syncscope.observe() as scope, caplog.at_level(logging.INFO):
        loss = torch.ones((), device="cuda")
        scope.reset()
        logging.getLogger("here").info("loss %f", loss)
    assert {event.site.text for event in scope.events} == {'logging.getLogger("here").info("loss %f", loss)'}


def test_code_from_a_string_is_a_site_where_there_is_no_other():
    site = eval(compile("here()", "<typed>", "eval"), {"here": sites.here})
    assert site.file.endswith("test_sites.py")


def test_helpers_in_other_modules_of_the_user_are_sites():
    from syncscope.pruning import vidcom2

    assert sites.is_users(vidcom2.compute_retention_mask.__code__)
    assert not sites.is_users(sites.here.__code__)
    assert not sites.is_users(torch.nn.Module.cuda.__code__)
    assert not sites.is_users(copy.deepcopy.__code__)


def test_generated_code_under_a_files_name_has_no_text_of_the_module_that_runs_it(tmp_path):
    (tmp_path / "script.py").write_text(
        "first = 1\nexec(compile('y = x.max().item()', 'generated.py', 'exec'))\n"
    )
    spec = spec_from_file_location("script", tmp_path / "script.py")
    module = module_from_spec(spec)
    with syncscope.observe() as scope:
        x = torch.ones(3).cuda()
        scope.reset()
        module.x = x
        spec.loader.exec_module(module)
    site = only_site(scope)
    assert (site.file, site.line, site.text) == ("generated.py", 1, "")
