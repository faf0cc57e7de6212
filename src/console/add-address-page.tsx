import { AddressForm } from './address-form.tsx'
import { Fault, Layout } from './layout.tsx'

interface AddAddressProps {
  email?: string
  fault?: string
  hasTelegram: boolean
}

/** Asks for a further address that signs in to the account, or leads to Telegram. */
export const AddAddressPage = ({ email, fault, hasTelegram }: AddAddressProps) => (
  <Layout title={fault === undefined ? 'Add a way to sign in' : 'Error: add a way to sign in'} account="Your account">
    <h1>Add a way to sign in</h1>
    <Fault text={fault} />
    <AddressForm action="/console/identities" button="Send a code" email={email} fault={fault} />
    {hasTelegram && (
      <p>
        <a class="button quiet" href="/console/identities/telegram">
          Add your Telegram account
        </a>
      </p>
    )}
    <p class="soft">It then belongs to this account for good, and brings no further credits.</p>
    <p>
      <a href="/console">Back to your account</a>
    </p>
  </Layout>
)
