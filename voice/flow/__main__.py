"""``python -m voice.flow FILE``: check an agent's file and its flow, and draw them in Mermaid.

Mistakes go to standard error, with their places in the file, and the exit status is then 1.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence

from voice.config import AgentConfig, load_config, load_team
from voice.config.flow import StepConfig
from voice.dialogue.team import Team
from voice.errors import VoiceError
from voice.flow.checks import team_specs
from voice.tools import Toolbox


def picture(agents: Sequence[AgentConfig]) -> Iterator[str]:
    """The lines of a Mermaid flowchart: steps with needs, transitions, hand-overs (dashed)."""
    yield "flowchart TD"
    for agent in agents:
        yield f'  subgraph {agent.name}["agent {agent.name}"]'
        for name, step in (agent.steps or {"": StepConfig()}).items():
            wants = (
                ("needs" if need.ask else "takes", value) for value, need in step.needs.items()
            )
            needs = "".join(f"<br>{how} {value}" for how, value in wants)
            yield f'    {agent.name}_{name}["{name or agent.name}{needs}"]'
        yield "  end"
    first = {agent.name: f"{agent.name}_{next(iter(agent.steps), '')}" for agent in agents}
    for agent in agents:
        for name, step in agent.steps.items():
            labels = [f"|{one.value} is {one.equals}|" for one in step.branches] + [""]
            for label, (_, to) in zip(labels, step.targets, strict=False):
                target = f"{agent.name}_{to}" if to in agent.steps else first[to]
                yield f"  {agent.name}_{name} -->{label} {target}"
        for other in agent.hand_over:
            yield f"  {agent.name} -.->|hands over| {other}"


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m voice.flow", description=__doc__)
    parser.add_argument("file", help="an agent's file, or the name of one in configs/agents")
    parser.add_argument("--config", help="for modules of tools: a file, or a name in configs")
    parser.add_argument("--set", action="append", default=[], help="override: section.key=value")
    options = parser.parse_args(arguments)
    try:
        config = load_config(options.config, [*options.set, "tools.database=:memory:"])
        agents = load_team(options.file)
        team_specs(Team(agents), Toolbox(config.tools, config.turn, memory=config.memory))
    except VoiceError as error:
        print(error, file=sys.stderr)
        return 1
    print("\n".join(picture(agents)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
