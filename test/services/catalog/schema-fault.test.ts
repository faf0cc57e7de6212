import t from 'tap'
import type { Family, ParametersSchema } from '../../../schemas/catalog.ts'
import { MAX_JSON_DEPTH } from '../../../schemas/primitives.ts'
import { shipped } from '../../../src/catalog/shipped.ts'
import { findSchemaFault } from '../../../src/services/catalog/schema-fault.ts'
import { describeFamilyFault } from '../../../src/transports/refusals/catalog.ts'
import { endpoint, family, parameters } from '../../support/catalog-samples.ts'

const lumen = (parametersSchema: ParametersSchema): Family =>
  family('lumen', {}, [endpoint('t2i'), endpoint('i2i', { parametersSchema })])
const size = (declared: Record<string, unknown>): Family => lumen(parameters({ size: declared }))

const schemaFault = (family: Family) => {
  const fault = findSchemaFault(family)
  return fault && describeFamilyFault(fault)
}

t.test('shipped schemas have no fault', async t => {
  for (const each of shipped) t.equal(schemaFault(each), undefined, each.id)
})

t.test('a schema that no validator can compile is refused with its endpoint and parameter', async t => {
  const wrong: [declared: Record<string, unknown>, fault: RegExp][] = [
    [{ type: 'strin' }, /must be equal to one of the allowed values/],
    [{ type: 'string', pattern: '(' }, /Invalid regular expression/],
    [{ type: 'string', format: 'rainbow' }, /unknown format "rainbow"/],
    [{ type: 'string', lenght: 3 }, /unknown keyword: "lenght"/],
    [{ $ref: 'https://example.com/size.json' }, /may not use \$ref/],
    [{ type: 'string', pattern: '^\\d+$' }, /may not use the pattern \^\\d\+\$, because clients in other languages/],
  ]
  for (const [declared, fault] of wrong) {
    t.match(schemaFault(size(declared)), /^lumen-i2i: the schema of size /)
    t.match(schemaFault(size(declared)), fault)
  }
  t.match(schemaFault(lumen({ ...parameters(), dependentRequired: 7 } as ParametersSchema)), /^lumen-i2i: the schema /)
})

t.test('a schema is nested no deeper than a request, so that every checker of proofs can read its event', async t => {
  const nested = (levels: number): object => (levels === 1 ? {} : { not: nested(levels - 1) })
  const fault = schemaFault(size(nested(MAX_JSON_DEPTH) as Record<string, unknown>))
  t.equal(fault, `lumen-i2i: the schema of size is nested deeper than ${MAX_JSON_DEPTH} levels`)
  t.equal(schemaFault(size(nested(MAX_JSON_DEPTH - 2) as Record<string, unknown>)), undefined)
})

t.test('a schema can be a part of any document', async t => {
  for (const word of ['$ref', '$id', '$anchor', '$dynamicRef', '$schema', '$async'])
    t.equal(
      schemaFault(lumen({ ...parameters(), [word]: '#' } as ParametersSchema)),
      `lumen-i2i: the schema may not use ${word}, because other documents contain it`,
    )
  t.equal(schemaFault(size({ type: 'string', $comment: 'an internal note' })), undefined)
})
