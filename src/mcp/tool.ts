import type { CallToolResult, ResourceLink, ToolAnnotations } from '@modelcontextprotocol/server'
import type { Static, TObject } from 'typebox'
import type { Brand } from '../domain/brand.ts'
import type { Logger } from '../ports/logger.ts'
import type { AccountCaller } from '../services/caller.ts'
import type { Presenter } from '../services/presenter.ts'
import type { Services } from '../services/services.ts'
import { toApiError } from '../transports/api-error.ts'
import { readerOf } from '../transports/validate.ts'
import { looseArguments } from './loose-arguments.ts'

/** The dependencies of tools. */
export interface ToolDependencies {
  services: Services
  present: Presenter
  brand: Pick<Brand, 'name'>
  logger: Logger
}

/** One call: its caller, and the connection to the client during the call. */
export interface Call extends ToolDependencies {
  caller: AccountCaller
  /** Counts the bytes of a result until the client has received them. Throws ApiError if the account has too many. */
  countAnswer(bytes: number): void
  /** Resolves when the account has its turn for more work. */
  nextTurn(): Promise<void>
  /** Aborts when the client disconnects. */
  signal: AbortSignal
  /** Undefined if the client did not request progress notifications. */
  notify: Notify | undefined
}

/** Reports progress: a percentage, which only rises, and a message. */
export type Notify = (percent: number, message: string) => void

/** The result of a call: the body of the API's response, with notes, links and pictures for the agent. */
export interface ToolAnswer<Body> {
  body: Body
  notes?: string[]
  links?: ResourceLink[]
  /** JPEGs. */
  pictures?: Uint8Array[]
}

interface Definition<Input extends TObject, Output extends TObject> {
  name: string
  title: string
  /** When an agent should call the tool, and the cost of a call. */
  description: string
  input: Input
  output: Output
  /** The body as a short text, because the whole body would be in the context of an agent twice. */
  summary(body: Static<Output>): string
  annotations: Required<Omit<ToolAnnotations, 'title'>>
  answer(args: Static<Input>, call: Call): Promise<ToolAnswer<Static<Output>>>
}

export interface Tool extends Pick<Definition<TObject, TObject>, 'name' | 'title' | 'description' | 'annotations'> {
  input: TObject
  output: TObject
  /** Never rejects: errors are results too, so that the model sees them and can correct its call. */
  call(args: unknown, call: Call): Promise<CallToolResult>
}

/** The annotations of tools that change nothing and contact no outside service. */
export const READ_ONLY = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }

/** Defines a tool whose arguments are checked like a request body, and whose errors match the API's. */
export const tool = <Input extends TObject, Output extends TObject>(of: Definition<Input, Output>): Tool => {
  const { answer, summary, ...described } = of
  const read = readerOf(of.input, 'arguments')
  return {
    ...described,
    call: async (args, call) => {
      try {
        const { body, ...rest } = await answer(read(looseArguments(args, of.input)), call)
        return toResult(body, { ...rest, summary: summary(body) }, call)
      } catch (error) {
        const { logger, caller } = call
        const { requestId = '' } = caller
        const apiError = toApiError(error, logger, { requestId, tool: of.name })
        return { isError: true, content: [asText(JSON.stringify(apiError.toBody(requestId)))] }
      }
    },
  }
}

const toResult = (
  body: object,
  { summary, notes = [], links = [], pictures = [] }: Omit<ToolAnswer<object>, 'body'> & { summary: string },
  call: Call,
): CallToolResult => {
  const images = pictures.map(asImage)
  const texts = [summary, ...notes]
  const sent = [JSON.stringify(body), ...texts, ...images.map(({ data }) => data)]
  call.countAnswer(sent.reduce((bytes, each) => bytes + Buffer.byteLength(each), 0))
  return { structuredContent: { ...body }, content: [...texts.map(asText), ...links, ...images] }
}

const asText = (text: string) => ({ type: 'text' as const, text })

const asImage = (jpeg: Uint8Array) => ({
  type: 'image' as const,
  mimeType: 'image/jpeg',
  data: Buffer.from(jpeg).toString('base64'),
})
