import type { Children } from '#jsx/jsx-runtime'
import { Brand, Document } from '../document.tsx'
import { OperatorsFoot } from '../front/operators-foot.tsx'
import { PICTURE_PATH } from '../front/pictures.ts'

/** A narrow form with a picture beside it. */
export const SignInFrame = ({ title, children }: { title: string; children: Children }) => (
  <Document title={title}>
    <div class="sign-in">
      <main class="stack">
        <Brand />
        {children}
        <OperatorsFoot />
      </main>
      <img class="hide-small" src={PICTURE_PATH} alt="" />
    </div>
  </Document>
)
