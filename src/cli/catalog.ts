import { readFile } from 'node:fs/promises'
import { Command } from 'commander'
import microdiff from 'microdiff'
import { Families, type Family } from '../../schemas/catalog.ts'
import type { Core } from '../boot/core.ts'
import { shipped } from '../catalog/shipped.ts'
import { type CatalogCommand, type CatalogState, differences, putByHand } from '../domain/catalog/catalog.ts'
import { compileCheck } from '../engine/validator.ts'
import { Addresses } from '../services/addresses.ts'
import { CatalogEditor } from '../services/catalog/catalog-editor.ts'
import { OperatorError } from '../services/operator-error.ts'
import { Presenter } from '../services/runs/present.ts'
import { cause, printMany, withCore } from './run.ts'

const nothing = 'Nothing differs.'

export const catalogCommand = (): Command => {
  const command = new Command('catalog').description('look at the catalog, and change it')

  command
    .command('list')
    .description('lists the families that are published, those for testers too')
    .option('--json', 'print JSON, with schemas and prices as GET /v1/models shows them')
    .action(async options => {
      const families = await withCore(async ({ catalog, config }) => {
        const present = new Presenter(new Addresses(() => ''), config.usdPerCreditMicros)
        return (await catalog.list(true)).map(offer => present.family(offer.family))
      })
      const rows = options.json
        ? families
        : families.map(({ id, output_type, status, endpoints, credits_range }) => ({
            id,
            output: output_type,
            status,
            kinds: endpoints.map(endpoint => endpoint.kind).join(', '),
            credits: `${credits_range.min} – ${credits_range.max}`,
          }))
      printMany(rows, options, 'Nothing is published yet; the service publishes its catalog when it starts.')
    })

  command
    .command('export [family]')
    .description('prints one family, or all, as JSON in the form that "diff" and "publish" take')
    .action(async familyId => {
      const families = await withCore(async core => [...(await editorOf(core).state()).families.values()])
      const found = families.filter(family => familyId === undefined || family.id === familyId)
      if (familyId !== undefined && found.length === 0) throw OperatorError.of({ code: 'family_not_found' })
      console.log(JSON.stringify(found, null, 2))
    })

  command
    .command('diff [file]')
    .description(
      'shows what "publish" would change: to what ships with this version, or to the families of a JSON file',
    )
    .option('--json', 'print JSON')
    .action(async (file, options) => {
      const changes = await withCore(async core => {
        const state = await editorOf(core).state()
        return (await wanted(state, file)).flatMap(change => describe(state, change))
      })
      printMany(changes, options, nothing)
    })

  command
    .command('publish [file]')
    .description(
      'publishes the families of a JSON file, which the service then leaves alone; without one, takes all back to what ships',
    )
    .option('--json', 'print JSON')
    .action(async (file, options) => {
      const applied = await withCore(async core => {
        const editor = editorOf(core)
        return (await editor.apply(await wanted(await editor.state(), file), cause)).applied
      })
      printMany(applied.map(summarize), options, nothing)
    })

  command
    .command('withdraw <family>')
    .description(
      'takes a family off the catalog, until "publish" without a file takes it back; runs that were accepted go on',
    )
    .option('--json', 'print JSON')
    .action(async (familyId, options) => {
      const withdrawal = { type: 'WithdrawFamily', familyId, byHand: true } as const
      const { applied } = await withCore(core => editorOf(core).apply([withdrawal], cause))
      printMany(applied.map(summarize), options, nothing)
    })

  return command
}

const editorOf = ({ log, clock }: Core) => new CatalogEditor(log, clock)

const wanted = async (state: CatalogState, file: string | undefined): Promise<CatalogCommand[]> =>
  file === undefined
    ? differences(state, shipped, { takeBack: true })
    : putByHand(state, await readFamilies(file)).filter(change => describe(state, change).length > 0)

const checkFamilies = compileCheck(Families)

/** One family or a list of them, in the form that the sources have them in. */
const readFamilies = async (path: string): Promise<Family[]> => {
  const families = await readFile(path, 'utf8')
    .then(text => [JSON.parse(text)].flat())
    .catch(error => {
      throw new OperatorError(
        error.code === 'ENOENT' ? `There is no file ${path}.` : `${path} is not JSON: ${error.message}`,
      )
    })
  const [fault] = checkFamilies(families)
  if (fault) throw new OperatorError(`${path} is not a family or a list of them: ${fault.path} ${fault.message}.`)
  return families
}

const verbs = { PublishFamily: 'publish', ReviseFamily: 'revise', WithdrawFamily: 'withdraw' } as const

const idOf = (change: CatalogCommand) => ('family' in change ? change.family.id : change.familyId)

const summarize = (change: CatalogCommand) => ({ family: idOf(change), change: verbs[change.type] })

/** A line for each place that differs. */
const describe = (state: CatalogState, change: CatalogCommand): Record<string, unknown>[] => {
  if (change.type !== 'ReviseFamily') return [{ ...summarize(change), place: null, from: null, to: null }]
  const before = state.families.get(change.family.id)
  const isByHand = state.byHand.has(change.family.id)
  const hand = { ...summarize(change), place: 'by hand', from: String(isByHand), to: String(!isByHand) }
  const changesHands = isByHand !== (change.byHand ?? false)
  const places = microdiff(before ?? {}, change.family).map(difference => ({
    ...summarize(change),
    place: difference.path.join('.'),
    from: 'oldValue' in difference ? JSON.stringify(difference.oldValue) : null,
    to: 'value' in difference ? JSON.stringify(difference.value) : null,
  }))
  return changesHands ? [...places, hand] : places
}
