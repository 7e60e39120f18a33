"""traceview explain: what a rule, a warning or an error means."""

from __future__ import annotations

import click


@click.command()
@click.argument("slug", required=False)
def explain(slug: str | None) -> None:
    """Explain SLUG: a rule, a warning or an error. Without SLUG list them all."""
    from traceview.findings import explain as texts

    if slug is not None:
        click.echo(texts.explain(slug), nl=False)
        return
    for kind, found in texts.explanations().items():
        click.echo(f"{kind}:")
        width = max(map(len, found))
        for name, title in found.items():
            click.echo(f"  {name:<{width}}  {title}")
