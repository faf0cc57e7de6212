import type { ModelFamily } from '../../../../schemas/api/model.ts'
import type { Presenter } from '../../../services/presenter.ts'
import type { Services } from '../../../services/services.ts'
import { unwrap } from '../../../transports/refusals.ts'

export interface Models {
  services: Pick<Services, 'descriptors'>
  present: Presenter
}

/** The families that every account may see. */
export const publicFamilies = async ({ services, present }: Models): Promise<ModelFamily[]> =>
  unwrap(await services.descriptors.families({ kind: 'anonymous' })).map(({ family, status }) =>
    present.family(family, status),
  )

/** The IDs of the families that can run now. */
export const modelsThatRun = async (parts: Models): Promise<string[]> =>
  (await publicFamilies(parts))
    .filter(({ endpoints }) => endpoints.some(({ available }) => available))
    .map(({ id }) => id)
