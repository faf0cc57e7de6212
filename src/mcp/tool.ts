import type { CallToolResult, ResourceLink, ToolAnnotations } from '@modelcontextprotocol/server'
import type { Static, TObject } from 'typebox'
import type { Reads } from '../engine/views/reads.ts'
import { readerOf } from '../http/validate.ts'
import type { Logger } from '../ports/logger.ts'
import { toApiError } from '../services/api-error.ts'
import type { Asker } from '../services/asker.ts'
import type { Catalog } from '../services/catalog/catalog.ts'
import type { Presenter } from '../services/runs/present.ts'
import type { Quotes } from '../services/runs/quotes.ts'
import type { RunReads } from '../services/runs/run-reads.ts'
import type { Runs } from '../services/runs/runs.ts'
import type { Uploads } from '../services/uploads/uploads.ts'

/** What tools do their work with. */
export interface Services {
  runs: Runs
  runReads: RunReads
  quotes: Quotes
  reads: Reads
  catalog: Catalog
  uploads: Uploads
  present: Presenter
  logger: Logger
}

/** One call: whose it is, and how to reach them while it lasts. */
export interface Call extends Services {
  asker: Asker
  /** Aborts when the client has hung up. */
  signal: AbortSignal
  /** Undefined where the client does not ask to be told how it goes. */
  tell: Tell | undefined
}

/** Tells how it goes: how far of a hundred, which only rises, and in words. */
export type Tell = (percent: number, message: string) => void

/** What a call comes to: the body that the API answers with, and what only an agent is told. */
export interface ToolAnswer<Body> {
  body: Body
  notes?: string[]
  links?: ResourceLink[]
}

interface Definition<Input extends TObject, Output extends TObject> {
  name: string
  title: string
  /** Tells an agent when to call it, and what that costs. */
  description: string
  input: Input
  output: Output
  annotations: Required<Omit<ToolAnnotations, 'title'>>
  answer(args: Static<Input>, call: Call): Promise<ToolAnswer<Static<Output>>>
}

export interface Tool extends Pick<Definition<TObject, TObject>, 'name' | 'title' | 'description' | 'annotations'> {
  input: TObject
  output: TObject
  /** Never rejects: what cannot be granted is a result too, so that the model sees it and can do better. */
  call(args: unknown, call: Call): Promise<CallToolResult>
}

/** What most tools are: nothing is changed by them, and nobody outside is asked. */
export const READ_ONLY = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }

/** A tool whose arguments are checked as a body of the API is, and whose refusals read as the API's do. */
export const tool = <Input extends TObject, Output extends TObject>(of: Definition<Input, Output>): Tool => {
  const { answer, ...described } = of
  const read = readerOf(of.input, 'call')
  return {
    ...described,
    call: async (args, call) => {
      try {
        return toResult(await answer(read(args), call))
      } catch (error) {
        const { logger, asker } = call
        const told = toApiError(error, logger, { requestId: asker.requestId, tool: of.name })
        return { isError: true, content: [asText(JSON.stringify(told.toBody(asker.requestId)))] }
      }
    },
  }
}

const toResult = ({ body, notes = [], links = [] }: ToolAnswer<object>): CallToolResult => ({
  structuredContent: { ...body },
  content: [asText(JSON.stringify(body)), ...notes.map(asText), ...links],
})

const asText = (text: string) => ({ type: 'text' as const, text })
