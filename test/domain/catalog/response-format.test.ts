import t from 'tap'
import type { ResponseFormat } from '../../../schemas/conversation.ts'
import { formFaults } from '../../../src/domain/catalog/conversation.ts'

const json_schema = { name: 'tide', schema: { type: 'object' } }

const faultsOf = (format?: object) => formFaults(format as ResponseFormat | undefined)

t.test('a form of the answer has a schema exactly if its type needs one', async t => {
  for (const fit of [undefined, { type: 'text' }, { type: 'json_object' }, { type: 'json_schema', json_schema }])
    t.same(faultsOf(fit), [])
  const path = '/response_format/json_schema'
  t.same(faultsOf({ type: 'json_schema' }), [{ path, message: 'is required' }])
  t.same(faultsOf({ type: 'text', json_schema }), [{ path, message: 'is not for the type text' }])
})
