import type { ApiDocument, Operation } from '../../../console/docs/api-document.ts'
import { operationsOf } from '../../../console/docs/api-document.ts'
import { firstRequest, type Guide } from '../../../console/docs/library.ts'
import { sectionsOf } from '../../../console/docs/markdown.tsx'
import { operationPath } from '../../../console/docs/paths.ts'
import type { Reference } from '../../../console/docs/reference-pages.tsx'
import { accessOf } from '../../../console/docs/scopes.ts'
import type { Brand } from '../../../domain/brand.ts'
import { yieldToEventLoop } from '../../../json/turns.ts'
import type { Presenter } from '../../../services/presenter.ts'
import type { Services } from '../../../services/services.ts'
import { unwrap } from '../../../transports/refusals.ts'
import { type Guides, openGuides } from '../../docs/guides.ts'
import { describeApi } from '../../openapi/document.ts'
import { templateOf } from '../../operation.ts'
import { routes } from '../../routes.ts'
import { SectionIndex } from './docs-sections.ts'
import type { Named } from './matching.ts'

interface Dependencies {
  services: Pick<Services, 'descriptors'>
  present: Presenter
  brand: Brand
  publicUrl: () => string
  /** Whether anyone may read the reference. */
  isPublic: boolean
}

interface Reader {
  /** Whether the reader may see the reference. */
  isReader: boolean
  /** Whether the reader needs the guides for operators. */
  isOperator: boolean
}

/** The documentation, opened when somebody asks for it. */
export interface Docs {
  guides(): Promise<Guides>
  reference(): Promise<Reference>
  /** The guides and requests by their titles. */
  titles(reader: Reader): Promise<Named[]>
  /** The sections of the guides by the words of their text. */
  sections(): Promise<SectionIndex>
}

export const openDocs = (dependencies: Dependencies): Docs => {
  const reference = openReference(dependencies)
  let opened: Promise<Guides> | undefined
  const guides = () => {
    opened ??= openGuides(dependencies.publicUrl)
    return opened
  }
  let indexed: Promise<SectionIndex> | undefined

  return {
    guides,
    reference,
    titles: async ({ isReader, isOperator }) => {
      const { shelves } = await guides()
      const shown = shelves.filter(({ isFolded }) => isOperator || !isFolded).flatMap(shelf => shelf.guides)
      const operations = isReader ? (await reference()).operations : []
      return [...[firstRequest, ...shown].map(ofGuide), ...operations.map(ofOperation)]
    },
    sections: async () => {
      indexed ??= guides()
        .then(indexOf)
        .catch(error => {
          indexed = undefined
          throw error
        })
      return indexed
    },
  }
}

const ofGuide = ({ path, title }: Guide): Named => ({
  result: { href: path, icon: 'book-open', name: title, note: 'Guide' },
})

const ofOperation = ({ id, method, path, summary, isWebhook }: Operation): Named => ({
  result: { href: operationPath(id), icon: 'list', name: summary, note: isWebhook ? 'Webhook' : `${method} ${path}` },
  words: `${summary} ${method} ${path}`,
})

/** Other requests have their turns between two sections, since reading all guides takes a while. */
const indexOf = async ({ shelves, sourceAt }: Guides): Promise<SectionIndex> => {
  const index = new SectionIndex()
  for (const [shelf, { guides, isFolded }] of shelves.entries())
    for (const { path, title } of guides) {
      for (const section of sectionsOf((await sourceAt(path)) ?? '')) {
        index.add({ path, title, isFolded, shelf }, section)
        await yieldToEventLoop()
      }
    }
  return index
}

/** Describes the API again whenever the catalog, its supply or the base URL has changed. */
const openReference = ({ services, present, brand, publicUrl, isPublic }: Dependencies) => {
  const opened = routes.map(of => (isPublic && of.auth === 'key unless public' ? { ...of, auth: 'none' as const } : of))
  const access = new Map(
    opened.map(of => [of.id, accessOf({ method: of.method.toUpperCase(), path: templateOf(of), auth: of.auth })]),
  )
  let last: { key: string; reference: Reference } | undefined

  const describe = (baseUrl: string, families: Parameters<typeof describeApi>[1]['families']): Reference => {
    const document = describeApi(opened, { title: brand.name, baseUrl, families }) as unknown as ApiDocument
    return {
      document,
      operations: operationsOf(document),
      accessOf: ({ id }: Operation) => access.get(id) ?? { needs: 'nothing', scopes: [] },
      baseUrl,
      parts: new Map(),
    }
  }

  return async (): Promise<Reference> => {
    const offers = unwrap(await services.descriptors.families({ kind: 'anonymous' }))
    const baseUrl = publicUrl()
    const key = [baseUrl, ...offers.map(offer => present.versionOf(offer))].join()
    if (last?.key !== key)
      last = {
        key,
        reference: describe(
          baseUrl,
          offers.map(({ family, status }) => present.family(family, status)),
        ),
      }
    return last.reference
  }
}
