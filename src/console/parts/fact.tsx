import type { Children } from '#jsx/jsx-runtime'

/** A name with its value, in a list of facts. */
export const Fact = ({ name, children }: { name: string; children: Children }) => (
  <>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </>
)
