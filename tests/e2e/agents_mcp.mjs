// Run by test_agents_mcp.py beside a node_modules that holds @openai/agents-realtime alone:
//   node agents_mcp.mjs URL MCP_URL never|always
// It types a request that a tool of the MCP server serves, approves the call where it is asked, and
// prints one JSON object: what happened. Nothing in it knows this project.

import { hostedMcpTool } from "@openai/agents-core";
import { OpenAIRealtimeWebSocket, RealtimeAgent, RealtimeSession } from "@openai/agents-realtime";

const [url, serverUrl, requireApproval] = process.argv.slice(2);
const seen = { tools: [], approvals: [], calls: [], errors: [] };
const agent = new RealtimeAgent({
  name: "test",
  instructions: "Use the tools. Be brief.",
  tools: [hostedMcpTool({ serverLabel: "notes", serverUrl, requireApproval })],
});
const session = new RealtimeSession(agent, { transport: new OpenAIRealtimeWebSocket({ url }) });

function report() {
  console.log(JSON.stringify(seen));
  session.close();
  process.exit(0);
}

session.on("error", (event) => seen.errors.push(String(event.error?.error?.message ?? event.error)));
session.on("mcp_tools_changed", (tools) => {
  seen.tools = tools.map((tool) => tool.name);
  session.sendMessage("find the note about shopping");
});
session.on("tool_approval_requested", (_context, _agent, request) => {
  seen.approvals.push(request.approvalItem.name);
  session.approve(request.approvalItem);
});
session.on("mcp_tool_call_completed", (_context, _agent, call) => seen.calls.push(call));
session.on("agent_end", (_context, _agent, said) => {
  if (said) {
    seen.said = said;
    report();
  }
});
setTimeout(report, 180_000);
await session.connect({ apiKey: "none" });
