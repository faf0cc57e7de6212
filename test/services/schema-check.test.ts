import t from 'tap'
import { Type } from 'typebox'
import { Closed } from '../../schemas/primitives.ts'
import { compileCheck, compileConvertingCheck } from '../../src/services/schema-check.ts'

const faultsOf = (schema: object, value: unknown) => compileCheck(schema)(value).map(({ message }) => message)

t.test('faults are in plain words', async t => {
  const cases: [schema: object, value: unknown, message: string][] = [
    [Type.Integer(), 1.5, 'must be an integer'],
    [Type.String(), 7, 'must be a string'],
    [Type.Boolean(), 'yes', 'must be true or false'],
    [Type.Object({}), [], 'must be an object'],
    [Type.Array(Type.String()), {}, 'must be an array'],
    [{ type: ['string', 'number'] }, true, 'must be a string or a number'],
    [Type.Literal('PUT'), 'GET', 'must be "PUT"'],
    [Type.Number({ multipleOf: 64 }), 65, 'must be a multiple of 64'],
    [Type.Number({ minimum: 1 }), 0, 'must be at least 1'],
    [Type.Number({ maximum: 4 }), 5, 'must be at most 4'],
    [Type.Number({ exclusiveMinimum: 0 }), 0, 'must be greater than 0'],
    [Type.Number({ exclusiveMaximum: 1 }), 1, 'must be less than 1'],
    [Type.String({ minLength: 1 }), '', 'must have at least 1 character'],
    [Type.String({ maxLength: 2 }), 'abc', 'must have at most 2 characters'],
    [Type.Array(Type.Number(), { minItems: 1 }), [], 'must have at least 1 item'],
    [Type.Array(Type.Number(), { maxItems: 2 }), [1, 2, 3], 'must have at most 2 items'],
    [{ type: 'string', enum: ['1K', '2K'] }, '3K', 'must be one of 1K, 2K'],
    [{ type: 'string', enum: ['1', '2'] }, 3, 'must be one of 1, 2'],
    [{ type: 'string', pattern: '^a$', description: 'The letter a.' }, 'b', 'must be the letter a'],
    [{ type: 'string', pattern: '^a$', description: 'Letters.' }, 'b', 'must match the pattern ^a$'],
  ]
  for (const [schema, value, message] of cases) t.same(faultsOf(schema, value), [message], message)
})

t.test('faults name the place of a missing and of an unknown field', async t => {
  const check = compileCheck(Closed({ model: Type.String() }))
  t.same(check({ modle: 'x' }), [
    { path: '/model', message: 'is required' },
    { path: '/modle', message: 'is unknown; expected one of model' },
  ])
})

t.test('text that cannot be converted is refused in the same words', async t => {
  const check = compileConvertingCheck(Type.Object({ PORT: Type.Integer(), SECRET: Type.String({ minLength: 32 }) }))
  t.same(check({ PORT: 'abc', SECRET: 'x' }), [
    { path: '/PORT', message: 'must be an integer' },
    { path: '/SECRET', message: 'must have at least 32 characters' },
  ])
})

t.test('the path of a fault is short, however long the name of a field is', async t => {
  const [fault] = compileCheck(Closed({}))({ ['a'.repeat(1_000_000)]: 'x' })
  t.equal(fault?.path, `/${'a'.repeat(999)}`)
})
