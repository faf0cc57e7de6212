import { PageContext } from '../page-state.ts'
import { BalanceText, Shell } from '../shell.tsx'
import { Attempt, Composer, type ComposerProps } from './composer.tsx'
import { sampleFor } from './family-picture.tsx'
import { Requests } from './requests.tsx'
import { Stage, type StageProps } from './stage.tsx'

export interface PlaygroundProps {
  composer: ComposerProps
  stage: StageProps
}

/**
 * The playground: a request at the left, its result at the right. On a phone, the form comes first, or the result that
 * the person has asked for.
 */
export const PlaygroundPage = ({ composer, stage }: PlaygroundProps) => (
  <Shell
    title="Playground"
    scripts={['playground.js', 'sound.js']}
    skip={{ href: '#entry', label: 'Skip to the form' }}
  >
    <div class="play">
      <Composer {...composer} />
      <div class="stage">
        <Stage {...stage} sample={sampleFor(composer.family)} />
        <Requests {...composer} />
      </div>
    </div>
  </Shell>
)

interface StageUpdateProps extends Pick<PlaygroundProps, 'stage'> {
  /** The name of what the form does next; undefined if it has not run. */
  attempt: string | undefined
}

/** The stage in place of the one on the page, with what a run changes elsewhere: the balance, and the next attempt. */
export const StageUpdate = ({ stage, attempt }: StageUpdateProps) => (
  <>
    <Stage {...stage} />
    {attempt !== undefined && <Attempt name={attempt} replaces />}
    <PageContext.Consumer>
      {({ account }) =>
        account && (
          <div hx-swap-oob="innerHTML:.side .balance">
            <BalanceText account={account} />
          </div>
        )
      }
    </PageContext.Consumer>
  </>
)
