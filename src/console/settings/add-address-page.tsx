import { AddressForm } from '../sign-in/address-form.tsx'
import { SignInFrame } from '../sign-in/sign-in-frame.tsx'

interface AddAddressProps {
  email?: string
  fault?: string
  hasTelegram: boolean
}

/** Asks for another e-mail address to sign in with, or links to Telegram. */
export const AddAddressPage = ({ email, fault, hasTelegram }: AddAddressProps) => (
  <SignInFrame title={fault === undefined ? 'Add a way to sign in' : 'Error: add a way to sign in'}>
    <div>
      <h1>Add a way to sign in</h1>
      <p class="muted">You cannot remove a way to sign in, and another one brings no further credits.</p>
    </div>
    <AddressForm action="/console/identities" button="Send a code" email={email} fault={fault} />
    {hasTelegram && (
      <a class="button wide" href="/console/identities/telegram">
        Add your Telegram account
      </a>
    )}
    <p>
      <a href="/console/settings">Back to the settings</a>
    </p>
  </SignInFrame>
)
