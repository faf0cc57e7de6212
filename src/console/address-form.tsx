import { faulty } from './layout.tsx'

interface AddressFormProps {
  action: string
  button: string
  email?: string | undefined
  fault?: string | undefined
}

/** Asks for the e-mail address that receives a code. */
export const AddressForm = ({ action, button, email = '', fault }: AddressFormProps) => (
  <form method="post" action={action}>
    <label for="email">E-mail address</label>
    <input
      id="email"
      name="email"
      type="email"
      required
      maxlength={254}
      autocomplete="email"
      autofocus
      value={email}
      {...faulty(fault)}
    />
    <button type="submit">{button}</button>
  </form>
)
