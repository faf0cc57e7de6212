import { AddressForm } from './address-form.tsx'
import { Fault, Layout } from './layout.tsx'

interface AddAddressProps {
  email?: string
  fault?: string
}

/** Asks for a further address of the account's owner. */
export const AddAddressPage = ({ email, fault }: AddAddressProps) => (
  <Layout title={fault === undefined ? 'Add an address' : 'Error: add an address'}>
    <h1>Add an address</h1>
    <Fault text={fault} />
    <AddressForm action="/console/identities" button="Send a code to it" email={email} fault={fault} />
    <p class="soft note">
      It signs in to your account too, for good: it can never open another one. It brings no further credits.{' '}
      <a href="/console">Go back</a>
    </p>
  </Layout>
)
