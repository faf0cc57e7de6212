import type { Children } from '#jsx/jsx-runtime'
import { PageContext } from '../page-state.ts'
import { Button, Field, Form } from '../parts/form.tsx'
import { type Operation, type Parameter, resolved, type Schema, type Schemas } from './api-document.ts'
import { operationPath } from './paths.ts'
import { examplesOf, sampleOf } from './sample.ts'
import type { Access } from './scopes.ts'
import { FORM_TYPE, isFile, JSON_TYPE } from './snippets.ts'

interface TryItProps {
  operation: Operation
  access: Access
  schemas: Schemas
}

/** Headers that a browser sets, or that a single request has no use for. */
const HIDDEN_HEADERS = ['X-Request-Id', 'Tollgate-Position', 'If-None-Match', 'If-Range', 'Origin']

/** A form whose request a script sends with the session of the reader. */
export const TryIt = ({ operation, access, schemas }: TryItProps) => (
  <PageContext.Consumer>
    {({ account }) => (
      <section class="card try" aria-labelledby="try">
        <div class="head">
          <h3 id="try">Try it</h3>
          {account && <span class={account.isTest ? 'badge warn' : 'badge'}>{account.isTest ? 'test' : 'live'}</span>}
        </div>
        <div class="pad stack">{contentOf({ operation, access, schemas }, account?.isTest)}</div>
      </section>
    )}
  </PageContext.Consumer>
)

/** `isTest` is undefined for people who are not signed in. */
const contentOf = (props: TryItProps, isTest: boolean | undefined): Children => {
  const { needs } = props.access
  if (needs === 'a key' || needs === 'an auditor’s key')
    return <p class="muted">A session cannot send this request: it needs {needs}. Use the command above.</p>
  if (isTest === undefined)
    return (
      <p class="muted">
        <a href="/console/sign-in">Sign in</a> to send this request from here, in test mode at no cost.
      </p>
    )
  return <RequestForm {...props} isTest={isTest} />
}

const RequestForm = ({ operation, schemas, isTest }: TryItProps & { isTest: boolean }) => {
  const { id, method, path, parameters, body } = operation
  const shown = parameters.filter(({ name }) => !HIDDEN_HEADERS.includes(name))
  // A body or the path says what to do, and the rest how.
  const hasBody = Object.keys(body).length > 0
  const first = shown.filter(({ required, in: place }) => required || (!hasBody && place === 'query'))
  const rest = shown.filter(parameter => !first.includes(parameter))
  const { [JSON_TYPE]: json, [FORM_TYPE]: form } = body
  const cost = costOf(operation, isTest)
  return (
    <>
      <noscript>
        <p class="muted">Sending a request from here needs JavaScript. The command above does the same.</p>
      </noscript>
      <form id="try-form" class="stack" data-method={method} data-path={path} hidden>
        {first.map(parameter => (
          <ParameterField key={parameter.name} parameter={parameter} schemas={schemas} />
        ))}
        {json && (
          <Field id="try-json" label="Body" hint={JSON_TYPE}>
            <textarea id="try-json" name="json" class="mono" spellcheck={false}>
              {JSON.stringify(examplesOf(json, schemas)[0]?.value, null, 2)}
            </textarea>
          </Field>
        )}
        {json === undefined &&
          form &&
          Object.entries(resolved(form.schema, schemas).properties ?? {}).map(([name, schema]) => (
            <FormField key={name} name={name} schema={schema} schemas={schemas} />
          ))}
        {json === undefined && form === undefined && hasBody && (
          <Field id="try-file" label="Body" hint="a file">
            <input id="try-file" name="file" type="file" />
          </Field>
        )}
        {rest.length > 0 && (
          <details class="nested">
            <summary>More options</summary>
            <div class="stack">
              {rest.map(parameter => (
                <ParameterField key={parameter.name} parameter={parameter} schemas={schemas} />
              ))}
            </div>
          </details>
        )}
        <div class="row wrap">
          <Button class={method === 'DELETE' ? 'danger' : 'main'}>Send {isTest ? 'test' : 'live'} request</Button>
          <button type="button" data-stops hidden>
            Stop waiting
          </button>
          <span class={cost.isWarning ? 'small warns' : 'small muted'}>{cost.text}</span>
        </div>
      </form>
      {!isTest && method !== 'GET' && (
        <Form action="/console/mode" class="row wrap">
          <input type="hidden" name="mode" value="test" />
          <input type="hidden" name="back" value={operationPath(id)} />
          <Button>Switch to test mode</Button>
          <span class="small muted">The sandbox then does the runs, which cost nothing.</span>
        </Form>
      )}
      <div id="try-answer" class="stack tight" tabindex={-1} hidden />
    </>
  )
}

/** What the request costs. */
const costOf = ({ method, path, tag, id }: Operation, isTest: boolean): { text: string; isWarning: boolean } => {
  if (method === 'GET') return { text: 'Reads only, and costs nothing.', isWarning: false }
  const runs = path === '/v1/run' || tag === 'OpenAI'
  if (isTest) return { text: runs ? 'Costs nothing: the sandbox does the run.' : 'Costs nothing.', isWarning: false }
  if (runs)
    return {
      text: `Costs the credits of the run${id === 'runModel' ? ', unless dry_run is true' : ''}.`,
      isWarning: true,
    }
  return { text: 'Changes your account, and costs no credits.', isWarning: true }
}

const ParameterField = ({ parameter, schemas }: { parameter: Parameter; schemas: Schemas }) => {
  const { name, in: place, required, schema } = parameter
  const id = `try-${place}-${name}`
  const { type, enum: values } = resolved(schema, schemas)
  const options = values ?? (type === 'boolean' ? ['true', 'false'] : undefined)
  const example = place === 'path' || required ? '' : String(sampleOf(schema, schemas) ?? '')
  return (
    <Field id={id} label={name} hint={required ? `${place}, required` : place}>
      {options ? (
        <select id={id} name={`${place}.${name}`} required={required}>
          {!required && <option value="">–</option>}
          {options.map(value => (
            <option key={String(value)} value={String(value)}>
              {String(value)}
            </option>
          ))}
        </select>
      ) : (
        <input
          id={id}
          name={`${place}.${name}`}
          required={required}
          placeholder={required ? String(sampleOf(schema, schemas) ?? '') : example}
          autocomplete="off"
          spellcheck={false}
        />
      )}
    </Field>
  )
}

const FormField = ({ name, schema, schemas }: { name: string; schema: Schema; schemas: Schemas }) => (
  <Field id={`try-form-${name}`} label={name}>
    {isFile(schema, schemas) ? (
      <input id={`try-form-${name}`} name={`form.${name}`} type="file" />
    ) : (
      <input id={`try-form-${name}`} name={`form.${name}`} autocomplete="off" spellcheck={false} />
    )}
  </Field>
)
