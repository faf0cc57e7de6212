import { Button, Fault, Field, Form, faulty } from '../parts/form.tsx'

/** The fields of the form as texts. */
export interface NoticeFields {
  email: boolean
  address: string
  url: string
  balanceUnder: string
}

export interface NoticeFormProps {
  entered: NoticeFields
  faults: Partial<Record<'form' | 'address' | 'url' | 'balanceUnder', string>>
  /** The addresses of the account, which can get mail. */
  addresses: readonly string[]
  isSaved: boolean
}

/** Where the account gets notices, and at which balance. */
export const NoticesCard = ({ entered, faults, addresses, isSaved }: NoticeFormProps) => (
  <section class="card" aria-labelledby="notices">
    <div class="head">
      <h2 id="notices">Notices</h2>
      {isSaved && (
        <span class="badge good" role="status">
          Saved
        </span>
      )}
    </div>
    <Form action="/console/settings/notices" class="pad stack">
      <p class="muted">About a low balance, budgets of keys, keys that expire, and models in use that retire.</p>
      <Fault text={faults.form} />
      <div class="halves">
        <div class="stack">
          <label class="choice">
            <input type="checkbox" name="email" value="on" checked={entered.email} />
            Send mail
          </label>
          {addresses.length > 0 && (
            <Field id="address" label="To" fault={faults.address}>
              <select id="address" name="address" {...faulty('address', faults.address)}>
                {addresses.map(address => (
                  <option key={address} value={address} selected={address === entered.address}>
                    {address}
                  </option>
                ))}
              </select>
            </Field>
          )}
        </div>
        <div class="stack">
          <Field id="url" label="Webhook" hint="a URL; empty for none" fault={faults.url}>
            <input
              id="url"
              name="url"
              type="url"
              maxlength={2048}
              placeholder="https://example.com/hooks/tollgate"
              value={entered.url}
              {...faulty('url', faults.url)}
            />
          </Field>
          <Field id="balance-under" label="Credits below which to tell" hint="0 for never" fault={faults.balanceUnder}>
            <input
              id="balance-under"
              name="balance_under"
              inputmode="decimal"
              autocomplete="off"
              value={entered.balanceUnder}
              {...faulty('balance-under', faults.balanceUnder)}
            />
          </Field>
        </div>
      </div>
      <div class="row">
        <Button>Save notices</Button>
      </div>
    </Form>
  </section>
)
