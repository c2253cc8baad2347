import pytest

from ragways.core.trace import Usage
from ragways.models.tokens import Price, Prices, is_private

USAGE = Usage(calls=1, input=1_000_000, cached=400_000, output=100_000, reasoning=50_000)


def test_own_prices_come_first():
    prices = Prices({"gpt-4o-mini": Price(input=1.0, cached=0.1, output=2.0)})
    assert prices.of(USAGE, "gpt-4o-mini") == pytest.approx(0.6 + 0.04 + 0.2)
    assert Price(input=1.0, output=2.0).of(USAGE) == pytest.approx(1.2)


def test_the_offline_table_knows_common_models():
    # 0.15 input, 0.075 cached, 0.6 output, USD a million
    wanted = pytest.approx(0.6 * 0.15 + 0.4 * 0.075 + 0.1 * 0.6)
    assert Prices().of(USAGE, "gpt-4o-mini") == wanted
    assert Prices().of(USAGE, "gpt-4o-mini", "https://api.openai.com/v1") == wanted
    assert Prices().of(USAGE, "gpt-4o-mini", "https://proxy.example.org/v1") == wanted


@pytest.mark.parametrize(
    "base_url", ["http://localhost:11434/v1", "http://127.0.0.1/v1", "http://10.0.0.7/v1", "http://gpu/v1"]
)
def test_a_machine_of_ones_own_does_not_cost_what_a_provider_takes(base_url):
    assert is_private(base_url)
    assert Prices().of(USAGE, "gpt-4o-mini", base_url) is None


def test_an_unknown_model_has_no_price():
    assert Prices().of(USAGE, "my-own-model") is None
    assert not Prices().known("my-own-model")
    assert Prices({"my-own-model": Price(0, 0)}).of(USAGE, "my-own-model") == 0
