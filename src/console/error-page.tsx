import { Layout } from './layout.tsx'

/** What went wrong, and the way back. */
export const ErrorPage = ({ message, requestId }: { message: string; requestId: string }) => (
  <Layout title="Error">
    <h1>That did not work</h1>
    <p role="alert">{message}</p>
    <p>
      <a href="/console">Go back</a>
    </p>
    <p class="soft note">
      Request <code>{requestId}</code>
    </p>
  </Layout>
)
