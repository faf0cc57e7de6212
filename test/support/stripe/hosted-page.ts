import type { Stripe } from 'stripe'

/** The page of Checkout, as far as a browser without script needs it: https://docs.stripe.com/payments/checkout */
export const hostedPage = (session: Stripe.Checkout.Session, name: string, refusal = ''): string => {
  const { amount_total: amount, currency, cancel_url: cancelUrl, customer_email: email } = session
  const body =
    session.status === 'open'
      ? `<h1>${escaped(name)}</h1>
<p id="amount">${amount} ${escaped(currency?.toUpperCase() ?? '')} (in the smallest unit)</p>
${refusal && `<p role="alert">${escaped(refusal)}</p>`}
<form method="post">
<p><label>Email <input type="email" name="email" required value="${escaped(email ?? '')}"></label></p>
<p><label>Name <input name="name" required value="Ada Lovelace"></label></p>
<p><label>Country <input name="country" required pattern="[A-Z]{2}" value="DE"></label></p>
<p><label>Tax, in the smallest unit <input name="tax" required pattern="[0-9]+" value="0"></label></p>
<p><label>Card <select name="card"><option value="ok">4242 4242 4242 4242</option>
<option value="declined">4000 0000 0000 9995, which is declined</option>
<option value="async">a bank that takes days</option></select></label></p>
<p><button>Pay</button></p>
</form>
${cancelUrl ? `<p><a href="${escaped(cancelUrl)}">Back</a></p>` : ''}`
      : `<h1>This page is ${session.status}.</h1>`
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Checkout (stub)</title><main>${body}</main></html>`
}

/** https://docs.stripe.com/payments/checkout/custom-success-page */
export const successUrlOf = ({ success_url, id }: Stripe.Checkout.Session): string =>
  (success_url ?? '').replaceAll('{CHECKOUT_SESSION_ID}', id)

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;')
