import { AddressForm } from './address-form.tsx'
import { Fault, Layout } from './layout.tsx'

interface AddAddressProps {
  email?: string
  fault?: string
  hasTelegram: boolean
}

/** Asks for another e-mail address to sign in with, or links to Telegram. */
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
    <p class="soft">You cannot remove a way to sign in, and another one brings no further credits.</p>
    <p>
      <a href="/console">Back to your account</a>
    </p>
  </Layout>
)
