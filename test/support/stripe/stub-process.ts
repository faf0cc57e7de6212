import { createInterface } from 'node:readline'
import { STRIPE_KEY, StripeStub, WEBHOOK_SECRET } from './stub.ts'
import { COMMANDS, obey } from './stub-commands.ts'

// A stand-in for Stripe until Ctrl-C, to try sales without an account there:
//   npm run -s stripe

/** Where the service listens by default. */
const { PUBLIC_URL = 'http://localhost:8080', STRIPE_PORT = '12111' } = process.env

const stub = new StripeStub()
await stub.listen(Number(STRIPE_PORT))
stub.sendTo(`${PUBLIC_URL}/callbacks/stripe`)
console.log(`This stands in for Stripe. No money moves. Start the service with these settings:

  export STRIPE_URL=${stub.url} STRIPE_SECRET_KEY=${STRIPE_KEY}
  export STRIPE_WEBHOOK_SECRET=${WEBHOOK_SECRET}

It reports to ${PUBLIC_URL}. It forgets everything when it ends. Type here what happens at Stripe:

  ${COMMANDS.join('\n  ')}
`)
for await (const line of createInterface({ input: process.stdin })) console.log(await obey(stub, line))
