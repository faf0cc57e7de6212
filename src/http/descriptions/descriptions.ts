import type { ToolSummary } from '../../../schemas/api/descriptors.ts'
import type { Brand } from '../../domain/brand.ts'
import type { Offer } from '../../services/catalog/offers.ts'
import type { Presenter } from '../../services/presenter.ts'
import { StaticBody } from '../answers/static-body.ts'
import { describeApi } from '../openapi/document.ts'
import type { Operation } from '../operation.ts'
import { llmsText } from './llms-text.ts'
import { describeMcp } from './mcp-descriptor.ts'

interface Dependencies {
  /** All operations of the API. */
  operations: Operation[]
  tools: ToolSummary[]
  brand: Pick<Brand, 'name'>
  publicUrl(): string
  present: Presenter
  /** Whether anyone may read them without an API key. */
  isPublic: boolean
}

export type DescriptionBodies = Record<'openApi' | 'llmsText' | 'mcp', StaticBody>

/**
 * The machine-readable descriptions of the service. They are regenerated only when the catalog, its supply or the base
 * URL has changed, because that takes longer than the rest of a request.
 */
export class Descriptions {
  readonly isPublic: boolean
  readonly #dependencies: Dependencies
  #last: { key: string; bodies: DescriptionBodies } | undefined

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
    this.isPublic = dependencies.isPublic
  }

  /** `offers` are the families that everyone may see. */
  bodies(offers: Offer[]): DescriptionBodies {
    const baseUrl = this.#dependencies.publicUrl()
    const key = [baseUrl, ...offers.map(offer => this.#dependencies.present.versionOf(offer))].join()
    if (this.#last?.key !== key) this.#last = { key, bodies: this.#describe(baseUrl, offers) }
    return this.#last.bodies
  }

  #describe(baseUrl: string, offers: Offer[]): DescriptionBodies {
    const { tools, present, brand } = this.#dependencies
    const facts = { title: brand.name, baseUrl }
    const operations = this.#dependencies.operations.map(of => this.#opened(of))
    const families = offers.map(({ family, status }) => present.family(family, status))
    return {
      openApi: new StaticBody('application/json', JSON.stringify(describeApi(operations, { ...facts, families }))),
      llmsText: new StaticBody('text/plain', llmsText({ ...facts, operations, families, tools })),
      mcp: new StaticBody('application/json', JSON.stringify(describeMcp({ ...facts, tools }))),
    }
  }

  #opened(operation: Operation): Operation {
    return this.isPublic && operation.auth === 'key unless public' ? { ...operation, auth: 'none' } : operation
  }
}
