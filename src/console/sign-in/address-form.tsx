import { Button, Field, Form, faulty } from '../parts/form.tsx'

interface AddressFormProps {
  action: string
  button: string
  email?: string | undefined
  fault?: string | undefined
}

/** Asks for the e-mail address that receives a code. */
export const AddressForm = ({ action, button, email = '', fault }: AddressFormProps) => (
  <Form action={action} class="stack">
    <Field id="email" label="E-mail address" fault={fault}>
      <input
        id="email"
        name="email"
        type="email"
        required
        maxlength={254}
        autocomplete="email"
        autofocus
        value={email}
        {...faulty('email', fault)}
      />
    </Field>
    <Button class="main big wide">{button}</Button>
  </Form>
)
