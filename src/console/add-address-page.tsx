import { AddressForm } from './address-form.tsx'
import { Fault, Layout } from './layout.tsx'

interface AddAddressProps {
  email?: string
  fault?: string
  hasTelegram: boolean
}

/** Asks for a further address of the account's owner. */
export const AddAddressPage = ({ email, fault, hasTelegram }: AddAddressProps) => (
  <Layout title={fault === undefined ? 'Add a way to sign in' : 'Error: add a way to sign in'}>
    <h1>Add a way to sign in</h1>
    <Fault text={fault} />
    <AddressForm action="/console/identities" button="Send a code to it" email={email} fault={fault} />
    {hasTelegram && (
      <p class="note">
        <a class="button quiet" href="/console/identities/telegram">
          Add your Telegram account
        </a>
      </p>
    )}
    <p class="soft note">
      It signs in to your account too, for good: it can never open another one. It brings no further credits.{' '}
      <a href="/console">Go back</a>
    </p>
  </Layout>
)
