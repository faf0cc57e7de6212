import type { Children, Markup } from '#jsx/jsx-runtime'
import { plural } from '../parts/text.ts'
import { type Parameter, referenceOf, resolved, type Schema, type Schemas } from './api-document.ts'
import { renderLine } from './markdown.tsx'
import { schemaPath } from './paths.ts'
import { limitsOf, typeOf } from './schema-words.ts'

/** How deep named schemas open in their place. Deeper ones are links to their pages. */
const MAX_DEPTH = 2

/** Longer lists of values open on demand. */
const MAX_VALUES = 12

/** More variants than that are a list of links. */
const MAX_VARIANTS = 8

interface SchemaProps {
  schema: Schema
  schemas: Schemas
  depth?: number
}

/** The members of an object, the items of a list, or the choices of a value. */
export const SchemaDetails = ({ schema, schemas, depth = 0 }: SchemaProps): Markup => {
  const { properties, required = [], items, anyOf, oneOf, additionalProperties } = resolved(schema, schemas)
  const choices = (anyOf ?? oneOf ?? []).filter(choice => hasDetails(choice, schemas))
  return (
    <>
      {properties && (
        <table class="fields">
          <thead class="visually-hidden">
            <tr>
              <th>Name and type</th>
              <th>Meaning</th>
            </tr>
          </thead>
          <tbody>
            {Object.entries(properties).map(([name, property]) => (
              <FieldRows
                key={name}
                name={name}
                schema={property}
                isRequired={required.includes(name)}
                schemas={schemas}
                depth={depth}
              />
            ))}
          </tbody>
        </table>
      )}
      {items && hasDetails(items, schemas) && <SchemaDetails schema={items} schemas={schemas} depth={depth} />}
      {typeof additionalProperties === 'object' && hasDetails(additionalProperties, schemas) && (
        <SchemaDetails schema={additionalProperties} schemas={schemas} depth={depth} />
      )}
      {choices.length > MAX_VARIANTS ? (
        <Variants choices={choices} schemas={schemas} />
      ) : (
        choices.map((choice, at) => (
          <Nested key={at} label={choice.title ?? `Choice ${at + 1}: ${typeOf(choice, schemas)}`}>
            <SchemaDetails schema={choice} schemas={schemas} depth={depth + 1} />
          </Nested>
        ))
      )}
    </>
  )
}

/** The parameters of a request in one place, such as its path, shown like the members of an object. */
export const ParameterTable = ({ parameters, schemas }: { parameters: readonly Parameter[]; schemas: Schemas }) => {
  const properties = parameters.map(
    ({ name, description, schema }) =>
      [name, { ...schema, ...(description !== undefined && { description }) }] as const,
  )
  const required = parameters.filter(parameter => parameter.required).map(({ name }) => name)
  return <SchemaDetails schema={{ properties: Object.fromEntries(properties), required }} schemas={schemas} />
}

interface FieldProps extends Required<SchemaProps> {
  name: string
  isRequired: boolean
}

/** A member with its type and meaning, and what is inside of it in a row below. */
const FieldRows = ({ name, schema, isRequired, schemas, depth }: FieldProps): Markup => {
  const whole = resolved(schema, schemas)
  const inner = innerOf(schema, schemas)
  const reference = referenceOf(inner)
  const opens = hasDetails(schema, schemas) && (reference === undefined || depth < MAX_DEPTH)
  return (
    <>
      <tr>
        <td>
          <code>{name}</code>
          <span class="small faint">
            {reference !== undefined && hasDetails(inner, schemas) ? (
              <a href={schemaPath(reference)}>{typeOf(schema, schemas)}</a>
            ) : (
              typeOf(schema, schemas)
            )}
          </span>
          {isRequired && <span class="small needed">required</span>}
        </td>
        <td>
          {whole.description !== undefined && <p dangerouslySetInnerHTML={renderLine(whole.description)} />}
          <Limits schema={whole} schemas={schemas} />
        </td>
      </tr>
      {opens && (
        <tr class="inside">
          <td colspan={2}>
            <Nested label={labelOf(inner, schemas)}>
              <SchemaDetails schema={inner} schemas={schemas} depth={depth + 1} />
            </Nested>
          </td>
        </tr>
      )}
    </>
  )
}

const Nested = ({ label, children }: { label: string; children: Children }) => (
  <details class="nested">
    <summary>{label}</summary>
    {children}
  </details>
)

/** What a value may be: its limits, its default and its choices. */
export const Limits = ({ schema, schemas }: { schema: Schema; schemas: Schemas }) => {
  const { default: usual, examples, items } = schema
  const inItems = items ? resolved(items, schemas) : {}
  const values = schema.const === undefined ? (schema.enum ?? inItems.enum) : undefined
  const limits = [...limitsOf(schema), ...limitsOf(inItems).map(limit => `each ${limit}`)]
  const example = values === undefined && schema.const === undefined ? examples?.[0] : undefined
  return (
    <>
      {limits.length > 0 && <p class="small faint">{limits.join(' · ')}</p>}
      {usual !== undefined && (
        <p class="small faint">
          default <code>{JSON.stringify(usual)}</code>
        </p>
      )}
      {values !== undefined && <Values values={values} />}
      {example !== undefined && typeof example !== 'object' && (
        <p class="small faint">
          such as <code>{String(example)}</code>
        </p>
      )}
    </>
  )
}

const Values = ({ values }: { values: readonly unknown[] }) => {
  const list = (
    <ul class="values">
      {values.map(value => (
        <li key={String(value)}>
          <code>{String(value)}</code>
        </li>
      ))}
    </ul>
  )
  if (values.length <= MAX_VALUES) return list
  return <Nested label={plural(values.length, 'value')}>{list}</Nested>
}

/** Variants by name, each with a link to the schema that makes it different. */
const Variants = ({ choices, schemas }: { choices: readonly Schema[]; schemas: Schemas }) => {
  const links = choices.flatMap(({ title, properties = {} }) => {
    const names = Object.values(properties).flatMap(property => referenceOf(property) ?? [])
    return names.map(name => [name, title ?? name] as const)
  })
  return (
    <Nested label={`One of ${plural(new Map(links).size, 'variant')}`}>
      <ul class="variants">
        {[...new Map(links)].map(([name, title]) => (
          <li key={name}>
            <a href={schemaPath(name)}>{title}</a>
            {schemas[name]?.description !== undefined && (
              <span class="small faint" dangerouslySetInnerHTML={renderLine(schemas[name].description)} />
            )}
          </li>
        ))}
      </ul>
    </Nested>
  )
}

/** The schema of the items of a list, or else the schema itself. */
const innerOf = (schema: Schema, schemas: Schemas): Schema => {
  const { items } = resolved(schema, schemas)
  return items ? innerOf(items, schemas) : schema
}

const labelOf = (schema: Schema, schemas: Schemas): string => {
  const { properties, anyOf, oneOf } = resolved(schema, schemas)
  if (properties) return plural(Object.keys(properties).length, 'field')
  return plural((anyOf ?? oneOf ?? []).filter(choice => hasDetails(choice, schemas)).length, 'shape')
}

/** Whether there is more to show of a schema than its type and limits. */
const hasDetails = (schema: Schema, schemas: Schemas): boolean => {
  const { properties, items, anyOf, oneOf } = resolved(schema, schemas)
  if (properties) return Object.keys(properties).length > 0
  if (items) return hasDetails(items, schemas)
  return (anyOf ?? oneOf ?? []).some(choice => hasDetails(choice, schemas))
}
