// The Vercel AI SDK: text, a stream, a tool loop, an object. Arguments: base URL, key, model.

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, Output, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";

const [baseURL, apiKey, name] = process.argv.slice(2);
const provider = createOpenAICompatible({
  name: "quicksilver",
  baseURL,
  apiKey,
  includeUsage: true,
  supportsStructuredOutputs: true,
});
const model = provider(name);
const hello = "Hello, who are you?";

const answer = await generateText({ model, prompt: hello });
const stream = streamText({ model, prompt: hello });
let pieces = "";
for await (const piece of stream.textStream) pieces += piece;

const ran = [];
const weather = tool({
  description: "Tell the weather.",
  inputSchema: z.object({ place: z.enum(["Paris", "Tokyo"]), days: z.number().int().min(1).max(9) }),
  execute: async (input) => {
    ran.push(input);
    return `Today in ${input.place}: light rain, 12 degrees, high 14, low 8.`;
  },
});
const loop = await generateText({
  model,
  prompt: "What is the weather in Paris?",
  tools: { weather },
  prepareStep: ({ stepNumber }) => ({ toolChoice: stepNumber === 0 ? "required" : "none" }),
  stopWhen: stepCountIs(3),
});
const { output } = await generateText({
  model,
  prompt: "The kitchen burns!",
  maxOutputTokens: 300,
  output: Output.object({
    schema: z.object({ urgency: z.enum(["low", "high"]), floor: z.number().int().min(0).max(9).nullable() }),
  }),
});

console.log(
  JSON.stringify({
    text: answer.text,
    reason: answer.finishReason,
    tokens: answer.usage.totalTokens,
    pieces,
    streamed: (await stream.usage).totalTokens,
    ran,
    steps: loop.steps.length,
    object: output,
  }),
);
