//go:build cgo

package gather

// ScatterPlan is a scatter in place whose shapes and options have been validated once, with the rules of [Plan].
type ScatterPlan[T Element, I Index] struct {
	request planned
}

// NewScatterPlan plans a [ScatterInto] of dense updates. Data is not read, so the tensors may be [Shaped].
func NewScatterPlan[T Element, I Index](target Tensor[T], indices Tensor[I],
	options ...Option) (*ScatterPlan[T, I], error) {
	return newScatterPlan(opScatter, target, indices, &absent, options)
}

// NewScatterPlanND plans a [ScatterNDInto] of dense updates.
func NewScatterPlanND[T Element, I Index](target Tensor[T], indices Tensor[I],
	options ...Option) (*ScatterPlan[T, I], error) {
	return newScatterPlan(opScatterND, target, indices, &absent, options)
}

// NewScatterPlanElements plans a [ScatterElementsInto] of dense updates.
func NewScatterPlanElements[T Element, I Index](target Tensor[T], indices Tensor[I],
	options ...Option) (*ScatterPlan[T, I], error) {
	return newScatterPlan(opScatterElements, target, indices, &absent, options)
}

// NewScatterPlanFrom plans a [ScatterInto]. The updates of the runs have the layout of updates, in which the open extent is
// [Open].
func NewScatterPlanFrom[T Element, I Index](target Tensor[T], indices Tensor[I], updates Updates[T],
	options ...Option) (*ScatterPlan[T, I], error) {
	return newScatterPlan(opScatter, target, indices, &updates.view, options)
}

// NewScatterPlanNDFrom plans a [ScatterNDInto], with the rules of [NewScatterPlanFrom].
func NewScatterPlanNDFrom[T Element, I Index](target Tensor[T], indices Tensor[I], updates Updates[T],
	options ...Option) (*ScatterPlan[T, I], error) {
	return newScatterPlan(opScatterND, target, indices, &updates.view, options)
}

// NewScatterPlanElementsFrom plans a [ScatterElementsInto], with the rules of [NewScatterPlanFrom].
func NewScatterPlanElementsFrom[T Element, I Index](target Tensor[T], indices Tensor[I], updates Updates[T],
	options ...Option) (*ScatterPlan[T, I], error) {
	return newScatterPlan(opScatterElements, target, indices, &updates.view, options)
}

func newScatterPlan[T Element, I Index](op operation, target Tensor[T], indices Tensor[I], updates *view,
	options []Option) (*ScatterPlan[T, I], error) {
	plan := &ScatterPlan[T, I]{}
	if err := createPlan(op, &target.view, &indices.view, updates, options, plan, &plan.request); err != nil {
		return nil, err
	}
	return plan, nil
}

// planned returns nil for nil.
func (p *ScatterPlan[T, I]) planned() *planned {
	if p == nil {
		return nil
	}
	return &p.request
}

// Close releases the plan when the current runs have returned. Closing again does nothing.
func (p *ScatterPlan[T, I]) Close() error { return p.planned().close() }

// Run scatters with the open extent n ([Open] if the plan has none) into target. The slices are the memory that the plan
// describes, from its first element, and may be longer. A slice that is too short is ErrSize, with its bytes as Value and
// the required bytes as Limit. Other errors are those of [ScatterInto]. Run allocates nothing, except with
// [AccumulateFloat32].
func (p *ScatterPlan[T, I]) Run(target Target[T], indices []I, updates Source[T], n int) error {
	return p.RunIn(nil, target, indices, updates, n)
}

// RunIn is Run in a context. nil is the default context of the process.
func (p *ScatterPlan[T, I]) RunIn(in *Context, target Target[T], indices []I, updates Source[T], n int) error {
	return p.planned().run(in, n, firstByte(target.memory), byteLen(target.memory), firstByte(indices),
		byteLen(indices), firstByte(updates.memory), byteLen(updates.memory))
}

// RunAt is RunIn for addresses. The caller guarantees that the memory is as large as the plan describes.
func (p *ScatterPlan[T, I]) RunAt(in *Context, at ScatterAddresses, n int) error {
	return p.planned().runAt(in, n, at.Target, at.Indices, at.Updates)
}

// Check validates the indices of a run with the open extent n and does nothing else, with the rules of [Plan.Check].
func (p *ScatterPlan[T, I]) Check(indices []I, n int) error { return p.CheckIn(nil, indices, n) }

// CheckIn is Check in a context. nil is the default context of the process.
func (p *ScatterPlan[T, I]) CheckIn(in *Context, indices []I, n int) error {
	return p.planned().check(in, n, firstByte(indices), byteLen(indices))
}

// CheckAt is CheckIn for an address, with the rules of [ScatterPlan.RunAt].
func (p *ScatterPlan[T, I]) CheckAt(in *Context, indices uintptr, n int) error {
	return p.planned().checkAt(in, n, indices)
}

// Extents returns how many bytes from each address a run with the open extent n uses at most. 0 if it uses none.
func (p *ScatterPlan[T, I]) Extents(n int) (target, indices, updates int, err error) {
	return p.planned().extents(n)
}

// UpdatesShape returns the shape of the updates for the open extent n. [Open] is passed through.
func (p *ScatterPlan[T, I]) UpdatesShape(n int) ([]int, error) { return p.planned().shape(n) }
