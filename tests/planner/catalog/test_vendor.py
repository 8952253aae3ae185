"""Facts of each vendor, complete enough that no other code needs to ask which vendor it is."""

from __future__ import annotations

from dataclasses import fields

import pytest

import planner.catalog
from planner.catalog import ComposeStyle, LayoutStyle, Vendor, VendorFacts, vendors_named_in, visible_devices
from planner.catalog.vendor import filled

FACTS = planner.catalog.vendors()
NVIDIA, AMD, INTEL = FACTS[Vendor.NVIDIA], FACTS[Vendor.AMD], FACTS[Vendor.INTEL]


def test_every_vendor_has_facts_under_its_own_name() -> None:
    assert set(FACTS) == set(Vendor)
    assert all(facts.vendor is vendor for vendor, facts in FACTS.items())


def test_the_facts_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        FACTS[Vendor.AMD] = NVIDIA  # type: ignore[index]


@pytest.mark.parametrize(
    ("name", "nvidia", "amd"),
    [
        ("resource", "nvidia.com/gpu", "amd.com/gpu"),
        ("taint_key", "nvidia.com/gpu", "amd.com/gpu"),
        ("product_label_key", "nvidia.com/gpu.product", "amd.com/gpu.product-name"),
        ("partition_layout_label_key", "nvidia.com/mig.config", "dcm.amd.com/gpu-config-profile"),
        ("partition_state_label_key", "nvidia.com/mig.config.state", "dcm.amd.com/gpu-config-profile-state"),
        ("partition_layout_style", LayoutStyle.MIG_PARTED, LayoutStyle.CONFIG_MANAGER),
        ("visible_devices", "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"),
        ("collective", "NCCL", "RCCL"),
        ("process_group_backend", "nccl", "nccl"),
        ("apptainer_flag", "--nv", "--rocm"),
        ("compose_style", ComposeStyle.DEVICE_IDS, ComposeStyle.DEVICE_NODES),
        ("compose_driver", "nvidia", None),
        ("compose_device_nodes", (), ("/dev/kfd", "/dev/dri/renderD{render}")),
        ("compose_groups", (), ("video",)),
        ("slurm_env_flag", "nvidia_gpu_env", "amd_gpu_env"),
        ("slurm_autodetect", "nvml", "rsmi"),
        ("software_key", "cuda", "rocm"),
        ("device_class", "gpu.nvidia.com", "gpu.amd.com"),
        (
            "use_metrics",
            (("DCGM_FI_PROF_GR_ENGINE_ACTIVE", 100), ("DCGM_FI_DEV_GPU_UTIL", 1)),
            (("gpu_gfx_activity", 1), ("amd_gpu_gfx_activity", 1)),
        ),
    ],
)
def test_vendors_differ_in_data_only(name: str, nvidia: object, amd: object) -> None:
    assert name in {field.name for field in fields(VendorFacts)}
    assert getattr(NVIDIA, name) == nvidia
    assert getattr(AMD, name) == amd


def test_a_vendors_own_variable_is_foreign_to_the_other() -> None:
    assert NVIDIA.visible_devices in AMD.foreign_visible_devices
    assert AMD.visible_devices in NVIDIA.foreign_visible_devices
    for facts in FACTS.values():
        assert facts.visible_devices not in facts.foreign_visible_devices


@pytest.mark.parametrize(
    ("slug", "variable"),
    [
        ("h100-sxm5-80gb", "CUDA_VISIBLE_DEVICES"),
        ("mi300x", "ROCR_VISIBLE_DEVICES"),
        ("gaudi2", "HABANA_VISIBLE_DEVICES"),
        ("max-1550", "ZE_AFFINITY_MASK"),
    ],
)
def test_exactly_one_variable_selects_the_devices_of_a_job(slug: str, variable: str) -> None:
    item = planner.catalog.load().get(slug)
    assert item is not None
    assert visible_devices(FACTS[item.vendor], item) == variable


def test_what_no_source_tells_of_intel_stays_unknown() -> None:
    assert (INTEL.resource, INTEL.visible_devices, INTEL.compose_style) == (None, None, None)
    assert INTEL.slurm_env_flag == "intel_gpu_env"


@pytest.mark.parametrize(
    ("image", "named"),
    [
        ("registry.acme/train:2.9-cu13", (Vendor.NVIDIA,)),
        ("pytorch/pytorch:2.9.0-cuda12.8-cudnn9-devel", (Vendor.NVIDIA,)),
        ("nvidia/cuda:12.8.0-base", (Vendor.NVIDIA,)),
        ("rocm/pytorch:rocm7.2.4_ubuntu24.04_py3.12_pytorch_release_2.10.0", (Vendor.AMD,)),
        ("registry:5000/team/train:ROCm-6.3", (Vendor.AMD,)),
        ("train:hip", (Vendor.AMD,)),
        ("train:cuda-or-rocm", (Vendor.NVIDIA, Vendor.AMD)),
        ("mirror/rocm/train:latest", ()),
        ("train:2.9", ()),
        ("barracuda:1", ()),
        ("train@sha256:cu12", ()),
        ("", ()),
    ],
)
def test_image_words_tell_the_vendor_an_image_was_built_for(image: str, named: tuple[Vendor, ...]) -> None:
    assert vendors_named_in(image, tuple(FACTS.values())) == named


def test_placeholders_are_filled_and_nothing_else_is_read() -> None:
    assert filled("/dev/dri/renderD{render}", render=129) == "/dev/dri/renderD129"
    assert filled("{profile}_{memory_mode}", profile="cpx", memory_mode="nps4") == "cpx_nps4"
    assert filled("{0.__class__}{profile}", profile="x") == "{0.__class__}x"


def test_driver_minimums_rise_with_the_toolkit() -> None:
    assert [pair[0] for pair in NVIDIA.driver_minimums] == ["11", "12", "13"]
    versions = [tuple(int(part) for part in pair[1].split(".")) for pair in NVIDIA.driver_minimums]
    assert versions == sorted(versions)
