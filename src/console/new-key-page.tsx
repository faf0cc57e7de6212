import { Code, Layout } from './layout.tsx'

interface NewKeyProps {
  name: string
  apiKey: string
  /** The first request to send with the key. */
  request: readonly string[]
}

/** Shows a new key. No other page shows the key. */
export const NewKeyPage = ({ name, apiKey, request }: NewKeyProps) => (
  <Layout title="New key" width="page" account="Your account">
    <h1>“{name}” is ready</h1>
    <section class="card ready">
      <p>
        This is your key. <strong>You will not see it again</strong>, so keep it in a secret manager.
      </p>
      <Code label="The key" lines={[apiKey]} />
      <h2>Try it</h2>
      <Code label="A first request" lines={request} />
    </section>
    <p>
      <a class="button" href="/console">
        I have saved the key
      </a>
    </p>
  </Layout>
)
