import { randomUUID } from 'node:crypto'
import { hasEnded } from '../../../../projections/runs.ts'
import type { ModelEndpoint, ModelFamily } from '../../../../schemas/api/model.ts'
import type { RunRequest } from '../../../../schemas/api/run.ts'
import type { RunRow } from '../../../../schemas/views.ts'
import type { ComposerProps } from '../../../console/playground/composer.tsx'
import { fieldName } from '../../../console/playground/control-field.tsx'
import { controlsOf, movedTo, readInput, withoutDefaults } from '../../../console/playground/controls.ts'
import type { StageProps, StripItem } from '../../../console/playground/stage.tsx'
import { priceOf } from '../../../console/playground/words.ts'
import { beginningOf, statusOf } from '../../../console/runs/run-words.ts'
import { outputTypeOf } from '../../../domain/catalog/family.ts'
import { chooseEndpoint, FILE_PARAMETERS } from '../../../domain/catalog/inputs.ts'
import type { SessionOwner } from '../../../services/caller.ts'
import { clientExamples, firstModel } from '../../../services/catalog/example-request.ts'
import { isStoredParameter } from '../../../services/runs/long-parameters.ts'
import { acceptedOf } from '../../../services/uploads/upload-rules.ts'
import { ApiError } from '../../../transports/api-error.ts'
import { errorOf, unwrap } from '../../../transports/refusals.ts'
import { NotJson, parseBounded } from '../../bodies/bounded-json.ts'
import type { PageDependencies } from './dependencies.ts'

type Input = Record<string, unknown>

/** What a person has entered for a family. */
export interface Entry {
  family: ModelFamily
  /** The endpoint that the input chooses. */
  endpoint: ModelEndpoint
  input: Input
  view: 'form' | 'json'
  /** The text of the view for JSON, if it cannot be read. */
  json?: string
  faults: Record<string, string>
}

/** The last runs that the stage shows. */
const STRIP_LENGTH = 8

/** Characters of a text in a tile of the stage. */
const STRIP_TEXT = 60

const ACCEPTS = { image: acceptedOf('image'), video: acceptedOf('video') }

export const PLAYGROUND = '/console/playground'

/** Gathers what the playground shows. */
export class PlaygroundState {
  readonly #dependencies: Pick<PageDependencies, 'services' | 'present' | 'publicUrl' | 'fileOrigins'>

  constructor(dependencies: Pick<PageDependencies, 'services' | 'present' | 'publicUrl' | 'fileOrigins'>) {
    this.#dependencies = dependencies
  }

  /** The families that the owner may run. `query` is text in their names or descriptions. */
  async families(owner: SessionOwner, query?: string): Promise<ModelFamily[]> {
    const { services, present } = this.#dependencies
    const offers = unwrap(await services.catalog.list(owner, query === undefined ? {} : { query }))
    return offers.map(({ family, status }) => present.family(family, status))
  }

  /** The family that a name means, or else the most suitable one for a first run. */
  familyNamed(families: readonly ModelFamily[], name: string | undefined): ModelFamily {
    const wanted =
      name ?? firstModel(families.filter(({ endpoints }) => endpoints.some(each => each.available)).map(({ id }) => id))
    const found = families.find(({ id, aliases, endpoints }) =>
      [id, ...aliases, ...endpoints.map(each => each.id)].includes(wanted),
    )
    if (!found) throw new ApiError('model_not_found', `There is no model ${wanted}. Choose another one.`)
    return found
  }

  /**
   * An entry whose endpoint follows from its input. Parameters at their defaults, and those of others, are left out.
   */
  entryOf(family: ModelFamily, given: Input): Entry {
    const endpoint = endpointFor(family, given)
    const input = withoutDefaults(endpoint, movedTo(endpoint, given))
    return { family, endpoint, input, view: 'form', faults: {} }
  }

  /** What a form says. */
  read(families: readonly ModelFamily[], form: URLSearchParams): Entry {
    const family = this.familyNamed(families, form.get('model') ?? '')
    if (form.get('shown') === 'json') return readJson(family, form.get('json') ?? '')
    const shown = family.endpoints.find(({ id }) => id === form.get('endpoint')) ?? endpointFor(family, {})
    const { input, faults } = readInput(shown, name => form.get(fieldName(name)) ?? undefined)
    const endpoint = endpointFor(family, input)
    const moved = endpoint === shown ? input : movedTo(endpoint, input)
    return { family, endpoint, input: moved, view: 'form', faults }
  }

  /** The input of a run, as far as it can be sent again. */
  async inputOf(owner: SessionOwner, row: RunRow): Promise<{ input: Input; isWhole: boolean }> {
    const recorded = unwrap(await this.#dependencies.services.runs.readInput(owner, row))
    const input = Object.fromEntries(Object.entries(recorded ?? {}).filter(([, value]) => !isStoredParameter(value)))
    const isWhole = recorded !== undefined && Object.keys(input).length === Object.keys(recorded).length
    return { input, isWhole }
  }

  /** The composer with the price of an entry. */
  async composer(owner: SessionOwner, entry: Entry, shown: Partial<ComposerProps> = {}): Promise<ComposerProps> {
    const { family, endpoint, input, view, json, faults } = entry
    const { price, found } = await this.#quote(owner, entry)
    const voice = ['voice', 'voice_id']
      .map(name => endpoint.parameters_schema.properties[name]?.['default'])
      .find(value => typeof value === 'string')
    const run = {
      ...{ url: this.#dependencies.publicUrl(), model: family.id },
      ...{ outputType: family.output_type, isAsync: endpoint.mode === 'async' },
    }
    return {
      ...{ family, endpoint: endpoint.id, view, price, accepts: ACCEPTS },
      controls: controlsOf(endpoint, family.endpoints, input),
      json: json ?? JSON.stringify(input, undefined, 2),
      faults: { ...found, ...faults },
      examples: clientExamples({ ...run, input: { ...missingIn(endpoint, input), ...input }, voice }),
      isSampled: owner.livemode !== false && this.#dependencies.present.isSampled(endpoint.id),
      isOwnFile: url => this.#isOwnFile(url),
      exampleHref: undefined,
      attempt: randomUUID(),
      ...shown,
    }
  }

  /** The price of an entry, and the faults of what the person has entered. What is missing is no fault yet. */
  async #quote(owner: SessionOwner, { family, endpoint, input, faults }: Entry) {
    const { services, present } = this.#dependencies
    if (Object.keys(faults).length > 0) return { price: undefined, found: {} }
    const request: RunRequest = { model: family.id, input: { ...missingIn(endpoint, input), ...input } }
    const quoted = await services.runs.quoteRun(owner, request)
    if ('refuse' in quoted) {
      const found = faultsOf(errorOf(quoted.refuse))
      return {
        price: undefined,
        found: Object.fromEntries(Object.entries(found).filter(([name]) => Object.hasOwn(input, name))),
      }
    }
    const { balanceMicros } = unwrap(await services.accounts.balance(owner))
    return { price: priceOf(present.quote(quoted.value), balanceMicros), found: {} }
  }

  /** The stage with a run. `isAsked` says that the person wants to see it. */
  async stage(
    owner: SessionOwner,
    row: RunRow | undefined,
    families: readonly ModelFamily[],
    isAsked = false,
  ): Promise<StageProps> {
    const { present } = this.#dependencies
    const strip = await this.#strip(owner, families, row)
    const nothing = {
      ...({ run: undefined, isAsked: false, outputType: 'image', shape: SHAPES.image } as const),
      ...{ strip, attempt: randomUUID() },
    }
    if (!row) return { ...nothing, useHref: undefined, canRepeat: false, canVary: false }
    const { input, isWhole } = await this.inputOf(owner, row)
    const family = families.find(({ id }) => id === row.model)
    const outputType = outputTypeOf(row.endpoint)
    const canRepeat = hasEnded(row) && isWhole && family !== undefined
    return {
      ...nothing,
      run: present.run(row, { input }),
      isAsked: isAsked || !hasEnded(row),
      outputType,
      shape: shapeOf(outputType, input),
      useHref: useHref(row, outputType, family, families),
      canRepeat,
      canVary: canRepeat && typeof input['seed'] === 'number' && row.error?.code !== 'invalid_input',
    }
  }

  /** The newest runs. An older run that is shown takes the last place. */
  async #strip(owner: SessionOwner, families: readonly ModelFamily[], shown?: RunRow): Promise<StripItem[]> {
    const { services, present } = this.#dependencies
    const { found } = unwrap(await services.runs.listRuns(owner, { limit: STRIP_LENGTH }))
    const isIn = shown === undefined || found.some(({ runId }) => runId === shown.runId)
    const rows = isIn ? found : [...found.slice(0, STRIP_LENGTH - 1), shown]
    return rows.map(row => {
      const { runId: id, model, endpoint } = row
      const outputType = outputTypeOf(endpoint)
      const run = present.run(row)
      const { text, urls = [], url = urls[0] } = run.output ?? {}
      const label = families.find(family => family.id === model)?.name ?? model
      const item = { id, outputType, label, href: `${PLAYGROUND}?model=${model}&run=${id}` }
      if (run.status !== 'completed') return { ...item, state: statusOf(run) }
      if (outputType === 'text') return { ...item, text: text && beginningOf(text, STRIP_TEXT) }
      if (url === undefined || outputType !== 'image') return { ...item, file: url }
      return { ...item, picture: `/console/runs/${id}/thumbnail` }
    })
  }

  /** Pages load files only from this service and its object store. */
  #isOwnFile(url: string): boolean {
    const { publicUrl, fileOrigins } = this.#dependencies
    const origin = URL.canParse(url) ? new URL(url).origin : ''
    return [new URL(publicUrl()).origin, ...fileOrigins].includes(origin)
  }
}

const endpointFor = (family: ModelFamily, input: Input): ModelEndpoint => {
  // A family has an endpoint.
  return chooseEndpoint(family, family.id, input) ?? (family.endpoints[0] as ModelEndpoint)
}

const readJson = (family: ModelFamily, json: string): Entry => {
  const view = 'json'
  try {
    const input = parseBounded(json.trim() === '' ? '{}' : json) as Input
    if (!Array.isArray(input)) return { family, endpoint: endpointFor(family, input), input, view, faults: {} }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    if (error instanceof NotJson) return unreadable(family, json, { path: '', message: brokenText(json) })
    const [fault] = error.details.errors ?? []
    if (fault) return unreadable(family, json, fault)
  }
  return unreadable(family, json)
}

const unreadable = (
  family: ModelFamily,
  json: string,
  fault = { path: '', message: 'is not a JSON object' },
): Entry => {
  const [, name = ''] = fault.path.split('/')
  const faults = { [name]: name === '' ? `The input ${fault.message}.` : fault.message }
  return { family, endpoint: endpointFor(family, {}), input: {}, view: 'json', json, faults }
}

const brokenText = (json: string): string => {
  try {
    JSON.parse(json)
    return 'is not a JSON object'
  } catch (error) {
    const [line, column] = placeIn(json, (error as Error).message)
    return `is not a JSON object: it breaks in line ${line}, column ${column}`
  }
}

/** The line and column where a text stops being JSON. The parser tells of most faults where they are. */
const placeIn = (json: string, message: string): [line: number, column: number] => {
  const [, position = message.startsWith('Unexpected token') ? wrongToken(json) : json.length] =
    / at position (\d+)/.exec(message) ?? []
  const lines = json.slice(0, Number(position)).split('\n')
  return [lines.length, (lines.at(-1) ?? '').length + 1]
}

/** The position of the first wrong token: the shortest beginning with one ends there. */
const wrongToken = (json: string): number => {
  let [right, wrong] = [0, json.length]
  while (wrong - right > 1) {
    const middle = Math.floor((right + wrong) / 2)
    if (hasWrongToken(json.slice(0, middle))) wrong = middle
    else right = middle
  }
  return right
}

const hasWrongToken = (json: string): boolean => {
  try {
    JSON.parse(json)
    return false
  } catch (error) {
    return (error as Error).message.startsWith('Unexpected token')
  }
}

/** What a valid input needs beside an input, from the first example of the endpoint. */
const missingIn = (
  { parameters_schema: { required = [], oneOf, examples = [] } }: ModelEndpoint,
  input: Input,
): Input => {
  const [example = {}] = examples
  const choices = oneOf?.flatMap(each => each.required) ?? []
  const isChosen = choices.length === 0 || choices.some(name => Object.hasOwn(input, name))
  const needed = [...required, ...(isChosen ? [] : choices)]
  return Object.fromEntries(
    Object.entries(example).filter(([name]) => needed.includes(name) && !Object.hasOwn(input, name)),
  )
}

/** The faults of an input by parameter. */
export const faultsOf = ({ details: { errors = [] } }: ApiError): Record<string, string> =>
  Object.fromEntries(
    errors.map(({ path, message }) => {
      const [, name = '', ...rest] = path.replace(/^\/input/, '').split('/')
      return [name, rest.length > 0 ? `${rest.join('/')} ${message}` : message]
    }),
  )

const SHAPES = {
  image: { width: 1, height: 1 },
  video: { width: 16, height: 9 },
  audio: { width: 5, height: 1 },
  text: { width: 5, height: 2 },
}

/** The proportions of a result, as far as the input says them. */
const shapeOf = (outputType: keyof typeof SHAPES, input: Input) => {
  const { aspect_ratio: ratio, size, width, height } = input
  const [, w, h] = /^(\d{1,5})[:x](\d{1,5})$/.exec(String(ratio ?? size ?? `${width}x${height}`)) ?? []
  return Number(w) > 0 && Number(h) > 0 ? { width: Number(w), height: Number(h) } : SHAPES[outputType]
}

/** Where a picture or film becomes an input: in the same family, or in one to choose. */
const useHref = (
  { runId, status, output, outputDeletedAt }: RunRow,
  outputType: string,
  family: ModelFamily | undefined,
  families: readonly ModelFamily[],
): string | undefined => {
  const parameter = parameterFor(outputType)
  if (!parameter || status !== 'completed' || outputDeletedAt !== undefined || !output?.artifacts.length)
    return undefined
  if (family && takes(family, parameter)) return `${PLAYGROUND}?model=${family.id}&run=${runId}&input=${runId}`
  return families.some(each => takes(each, parameter)) ? `${PLAYGROUND}/models?input=${runId}` : undefined
}

/** The parameter that takes a result. */
export const parameterFor = (outputType: string) =>
  (['image_url', 'video_url'] as const).find(name => FILE_PARAMETERS[name] === outputType)

export const takes = ({ endpoints }: ModelFamily, parameter: string): boolean =>
  endpoints.some(({ parameters_schema: { properties } }) => Object.hasOwn(properties, parameter))
