import { Command } from 'commander'
import { Presenter } from '../http/present.ts'
import { printMany, withCore } from './run.ts'

export const catalogCommand = (): Command => {
  const command = new Command('catalog').description('look at the catalog')

  command
    .command('list')
    .description('lists the families that are published, those for testers too')
    .option('--json', 'print JSON, with schemas and prices as GET /v1/models shows them')
    .action(async options => {
      const families = await withCore(async ({ catalog, config }) => {
        const present = new Presenter(() => '', config.usdPerCreditMicros)
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

  return command
}
