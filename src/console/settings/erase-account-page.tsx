import { Button, Field, Form, faulty } from '../parts/form.tsx'
import { Shell } from '../shell.tsx'

/** Asks before an account is erased. */
export const EraseAccountPage = ({ accountId, fault }: { accountId: string; fault?: string | undefined }) => (
  <Shell title="Erase this account">
    <div class="page narrow stack">
      <section class="card form-card">
        <div class="head">
          <h2>Erase this account?</h2>
        </div>
        <div class="pad stack">
          <p>
            All keys stop working, all files are deleted, and your addresses, inputs, texts, and file names are erased.
            The remaining credits are lost. The log keeps only amounts, times, and models. You cannot undo this.
          </p>
          <Form action="/console/settings/erase" class="stack">
            <Field
              id="account"
              label={
                <span>
                  To erase it, enter its ID: <code>{accountId}</code>
                </span>
              }
              fault={fault}
            >
              <input
                {...{ id: 'account', name: 'account', required: true, autocomplete: 'off', autofocus: true }}
                {...faulty('account', fault)}
              />
            </Field>
            <div class="row">
              <Button class="danger">Erase account</Button>
              <a class="button quiet" href="/console/settings">
                Keep account
              </a>
            </div>
          </Form>
        </div>
      </section>
    </div>
  </Shell>
)
