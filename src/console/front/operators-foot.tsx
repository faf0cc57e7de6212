import { PageContext } from '../page-state.ts'
import { wordsOf } from './words.ts'

/** The operator's foot of all pages for everyone: terms, privacy, and who runs the service. */
export const OperatorsFoot = () => (
  <PageContext.Consumer>
    {({ brand: { text } }) => {
      const foot = text === undefined ? undefined : footOf(text)
      return foot && <footer class="prose foot" dir="auto" dangerouslySetInnerHTML={foot} />
    }}
  </PageContext.Consumer>
)

const feet = new Map<string, ReturnType<typeof wordsOf>['foot']>()

/** A service has one text, which is rendered once. */
const footOf = (text: string) => {
  if (!feet.has(text)) feet.set(text, wordsOf(text).foot)
  return feet.get(text)
}
