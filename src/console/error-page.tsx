import { Layout } from './layout.tsx'

/** An error, and the way back. */
export const ErrorPage = ({ message, requestId }: { message: string; requestId: string }) => (
  <Layout title="Error">
    <h1>That did not work</h1>
    <p role="alert">{message}</p>
    <p>
      <a href="/console">Go to your account</a>
    </p>
    <p class="soft">
      Request ID <code>{requestId}</code>
    </p>
  </Layout>
)
