import type { Tool } from './tool.ts'
import { cancelRun } from './tools/cancel-run.ts'
import { createUpload } from './tools/create-upload.ts'
import { explainCharge } from './tools/explain-charge.ts'
import { getBalance } from './tools/get-balance.ts'
import { getRun } from './tools/get-run.ts'
import { getStatement } from './tools/get-statement.ts'
import { getUsage } from './tools/get-usage.ts'
import { listModels } from './tools/list-models.ts'
import { listRuns } from './tools/list-runs.ts'
import { quoteRun } from './tools/quote-run.ts'
import { runModel } from './tools/run-model.ts'

/** All tools, in the order of the list. */
export const tools: Tool[] = [
  ...[listModels, runModel, getRun, listRuns, cancelRun, quoteRun],
  ...[getBalance, getStatement, getUsage, explainCharge, createUpload],
]

const byName = new Map<unknown, Tool>(tools.map(tool => [tool.name, tool]))

export const toolNamed = (name: unknown): Tool | undefined => byName.get(name)

/** The tool that an unchecked message calls. */
export const toolCalledBy = (message: unknown): Tool | undefined => {
  const { method, params } = (message ?? {}) as { method?: unknown; params?: { name?: unknown } }
  return method === 'tools/call' ? toolNamed(params?.name) : undefined
}
