import { readFile } from 'node:fs/promises'
import { Command } from 'commander'
import type { ModelEndpoint } from '../../schemas/api/model.ts'
import { Families, type Family } from '../../schemas/catalog.ts'
import { configuredRoutes } from '../boot/providers.ts'
import type { CatalogState, FamilyCommand } from '../domain/catalog/catalog.ts'
import { familyDiff } from '../services/catalog/family-diff.ts'
import { Addresses } from '../services/files/addresses.ts'
import { Presenter } from '../services/presenter.ts'
import { ReportedBreakers } from '../services/providers/reported-breakers.ts'
import { compileCheck } from '../services/schema-check.ts'
import { operatorOf } from './operator.ts'
import { OperatorError } from './operator-error.ts'
import { printMany } from './print.ts'
import { addPublishing, NO_DIFFERENCES } from './publishing.ts'
import { unwrap } from './refusals.ts'
import { withCore } from './with-core.ts'

export const catalogCommand = (): Command => {
  const command = new Command('catalog')

  command
    .command('list')
    .description('list the published families, including families for testers')
    .option('--json', 'print JSON with schemas and prices, in the form of GET /v1/models')
    .action(async (options, command) => {
      const caller = operatorOf(command)
      const families = await withCore(async core => {
        await core.choices.load()
        const breakers = new ReportedBreakers(core)
        await breakers.load()
        const routes = configuredRoutes({ ...core, breakers })
        const supplyOf = (endpoint: string) => routes.supplyOf(endpoint)
        const present = new Presenter(new Addresses(() => ''), core.config.usdPerCreditMicros, supplyOf)
        return unwrap(await core.services.catalog.list(caller)).map(offer => present.family(offer.family))
      })
      const rows = options.json
        ? families
        : families.map(({ id, output_type, status, endpoints, credits_range }) => ({
            id,
            output: output_type,
            status,
            kinds: endpoints.map(endpoint => endpoint.kind).join(', '),
            available: availabilityOf(endpoints),
            credits: rangeOf(credits_range),
          }))
      printMany(rows, options, 'No families are published yet; the service publishes its catalog when it starts.')
    })

  command
    .command('export [family]')
    .description('print one family, or all families, as JSON for "diff" and "publish"')
    .action(async (familyId, _options, command) => {
      const caller = operatorOf(command)
      const families = await withCore(async ({ services }) => unwrap(await services.catalog.export(caller, familyId)))
      console.log(JSON.stringify(families, null, 2))
    })

  addPublishing(command, {
    description: [
      'publish the families of a JSON file, which the service keeps when it starts;',
      'without a file, restore the catalog of this version',
    ].join(' '),
    read: readFamilies,
    compare: async ({ services }, caller, families) => {
      const { state, commands } = unwrap(await services.catalog.compare(caller, families))
      return commands.flatMap(change => describe(state, change))
    },
    publish: async ({ services }, caller, families) =>
      unwrap(await services.catalog.publish(caller, families)).map(summarize),
  })

  command
    .command('withdraw <family>')
    .description('withdraw a family; accepted runs continue; "publish" without a file restores the family')
    .option('--json', 'print JSON')
    .action(async (familyId, options, command) => {
      const caller = operatorOf(command)
      await withCore(async ({ services }) => {
        const applied = unwrap(await services.catalog.withdraw(caller, familyId))
        printMany(applied.map(summarize), options, NO_DIFFERENCES)
      })
    })

  return command
}

const rangeOf = ({ min, max }: { min: number; max: number }): string => (min === max ? `${min}` : `${min} – ${max}`)

/** The output types that a configured provider serves, if not all or none. */
const availabilityOf = (endpoints: ModelEndpoint[]): string => {
  const available = endpoints.filter(each => each.available)
  if (available.length === endpoints.length) return 'yes'
  return available.map(({ kind }) => kind).join(', ') || 'no'
}

const checkFamilies = compileCheck(Families)

/** The families in a JSON file, which holds one family or a list. */
const readFamilies = async (path: string): Promise<Family[]> => {
  const families = await readFile(path, 'utf8')
    .then(text => [JSON.parse(text)].flat())
    .catch(error => {
      throw new OperatorError(
        error.code === 'ENOENT' ? `There is no file ${path}.` : `${path} is not JSON: ${error.message}`,
      )
    })
  const [fault] = checkFamilies(families)
  if (fault) throw new OperatorError(`${path} is not a family or a list of families: ${fault.path} ${fault.message}.`)
  return families
}

const verbs = { PublishFamily: 'publish', ReviseFamily: 'revise', WithdrawFamily: 'withdraw' } as const

const idOf = (change: FamilyCommand) => ('family' in change ? change.family.id : change.familyId)

const summarize = (change: FamilyCommand) => ({ family: idOf(change), change: verbs[change.type] })

const describe = (state: CatalogState, change: FamilyCommand): Record<string, unknown>[] => {
  if (change.type !== 'ReviseFamily') return [{ ...summarize(change), place: null, from: null, to: null }]
  const before = state.families.get(change.family.id)
  const isByHand = state.byHand.has(change.family.id)
  const hand = { ...summarize(change), place: 'by hand', from: String(isByHand), to: String(!isByHand) }
  const changesHands = isByHand !== (change.byHand ?? false)
  const places = familyDiff(before, change.family).map(difference => ({ ...summarize(change), ...difference }))
  return changesHands ? [...places, hand] : places
}
