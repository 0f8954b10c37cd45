//go:build cgo

package gather

// ScatterPlan is a scatter in place whose shapes and options have been validated once. Other rules are those of [Plan].
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

// NewScatterPlanFrom plans a [ScatterInto]. The updates of the runs have the layout of updates, in which the open
// extent is [Open].
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
	if err := createPlan(op, byRole(&target.view, &indices.view, updates), options, plan, &plan.request); err != nil {
		return nil, err
	}
	return plan, nil
}

// planned returns the untyped plan, or nil for a nil plan.
func (p *ScatterPlan[T, I]) planned() *planned {
	if p == nil {
		return nil
	}
	return &p.request
}

// Close releases the plan when the current runs have returned. Closing again does nothing.
func (p *ScatterPlan[T, I]) Close() error { return p.planned().close() }

// Run scatters into target. n is the open extent, or [Open] if the plan has none. The slices are the memory that the
// plan describes, and may be longer. If a slice is too short, Run returns ErrSize. Value is then its size in bytes, and
// Limit is the required size. Other errors are those of [ScatterInto]. Run allocates nothing, except with
// [AccumulateFloat32].
func (p *ScatterPlan[T, I]) Run(target Target[T], indices []I, updates Source[T], n int) error {
	// This repeats RunIn, which is not inlined because ScatterPlan is generic.
	return p.planned().run(nil, n, firstByte(target.memory), byteLen(target.memory), firstByte(indices),
		byteLen(indices), firstByte(updates.memory), byteLen(updates.memory))
}

// RunIn runs the plan in a context, as Run. nil means the default context of the process.
func (p *ScatterPlan[T, I]) RunIn(in *Context, target Target[T], indices []I, updates Source[T], n int) error {
	return p.planned().run(in, n, firstByte(target.memory), byteLen(target.memory), firstByte(indices),
		byteLen(indices), firstByte(updates.memory), byteLen(updates.memory))
}

// RunAt is like RunIn, for memory at addresses. The caller guarantees that the memory is as large as the plan
// describes.
func (p *ScatterPlan[T, I]) RunAt(in *Context, at ScatterAddresses, n int) error {
	return p.planned().runAt(in, n, at.Target, at.Indices, at.Updates)
}

// Check validates the indices of a run with the open extent n, and writes nothing. Other rules are those of
// [Plan.Check].
func (p *ScatterPlan[T, I]) Check(indices []I, n int) error { return p.CheckIn(nil, indices, n) }

// CheckIn validates indices in a context, as Check. nil means the default context of the process.
func (p *ScatterPlan[T, I]) CheckIn(in *Context, indices []I, n int) error {
	return p.planned().check(in, n, firstByte(indices), byteLen(indices))
}

// CheckAt validates indices at an address, with the rules of [ScatterPlan.RunAt].
func (p *ScatterPlan[T, I]) CheckAt(in *Context, indices uintptr, n int) error {
	return p.planned().checkAt(in, n, indices)
}

// Extents returns the sizes of the memory in bytes that a run with the open extent n needs. A size is 0 if the run does
// not use the operand.
func (p *ScatterPlan[T, I]) Extents(n int) (target, indices, updates int, err error) {
	return p.planned().extents(n)
}

// UpdatesShape returns the shape of the updates for the open extent n. If n is [Open], the shape has an extent of Open.
func (p *ScatterPlan[T, I]) UpdatesShape(n int) ([]int, error) { return p.planned().shape(n) }
